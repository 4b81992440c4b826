"""The fakes of one mount, laid out so that the entries for a call are found at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from passgrid.fakes.blocks import Block, Entry, FakedTool, Policy, Scope

_Key: TypeAlias = tuple[str | None, str | None]


@dataclass(frozen=True)
class MountFakes:
    """Blocks in the order they were loaded; frozen, so a load makes another one."""

    mount: str
    blocks: tuple[Block, ...] = ()
    loads: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often each source was loaded here."""
    counter: int = 0
    """The number of the last load from code or over the control API; never rewound."""
    version: int = 0
    """Of all that is loaded, where it may change under a call: what is decided with one version holds in no other."""

    @cached_property
    def _entries(self) -> dict[tuple[str, str | None, str | None], tuple[Entry, ...]]:
        found: dict[tuple[str, str | None, str | None], list[Entry]] = defaultdict(list)
        for block in self.blocks:
            for tool in block.tools.values():
                found[(tool.name, block.scope.test_id, block.scope.context)].extend(tool.entries)
        return {key: tuple(entries) for key, entries in found.items()}

    @cached_property
    def by_id(self) -> dict[str, Entry]:
        """Every declared call."""
        return {entry.entry_id: entry for block in self.blocks for entry in block.entries}

    @cached_property
    def _denying(self) -> frozenset[_Key]:
        return frozenset(
            (block.scope.test_id, block.scope.context) for block in self.blocks if block.undeclared == "deny"
        )

    def entries(self, tool: str, test_id: str | None, context: str | None) -> tuple[Entry, ...] | None:
        """What the most particular tier that declares the tool says of it; None where none does.

        There is no way from one tier to the next: neither where nothing matches, nor where all is used up.
        """
        for key in _tiers(test_id, context):
            found = self._entries.get((tool, *key))
            if found is not None:
                return found
        return None

    def policy(self, test_id: str | None, context: str | None, asked: str | None = None) -> Policy:
        """How a tool that nobody declares is treated: as the request or its session asks, else as blocks say."""
        if asked == "allow" or asked == "deny":
            return asked
        return "deny" if any(key in self._denying for key in _tiers(test_id, context)) else "allow"

    def covering(self, test_id: str | None, context: str | None) -> Iterator[Block]:
        """The blocks a request is in."""
        return (block for block in self.blocks if block.scope.covers(test_id, context))

    def tools(self, test_id: str | None, context: str | None) -> dict[str, FakedTool]:
        """Faked tools by name, as a request sees them; the most particular tier says how one looks."""
        found: dict[str, FakedTool] = {}
        for block in sorted(self.covering(test_id, context), key=lambda block: -block.scope.tier):
            for tool in block.tools.values():
                known = found.get(tool.name)
                if known is None or (known.input_schema is None and tool.input_schema is not None):
                    found[tool.name] = tool
        return found

    def resources(self, test_id: str | None, context: str | None) -> dict[str, Mapping[str, Any]]:
        """Faked resources by address."""
        ordered = sorted(self.covering(test_id, context), key=lambda block: block.scope.tier)
        return {uri: one for block in ordered for uri, one in block.resources.items()}

    def prompts(self, test_id: str | None, context: str | None) -> dict[str, Mapping[str, Any]]:
        """Faked prompts by name."""
        ordered = sorted(self.covering(test_id, context), key=lambda block: block.scope.tier)
        return {name: one for block in ordered for name, one in block.prompts.items()}

    def scoped_to(self, scope: Scope) -> tuple[Block, ...]:
        """The blocks of exactly this scope."""
        return tuple(block for block in self.blocks if block.scope == scope)


def _tiers(test_id: str | None, context: str | None) -> tuple[_Key, ...]:
    """Scopes that cover a request, the most particular first."""
    if test_id is None and context is None:
        return ((None, None),)
    if test_id is None:
        return ((None, context), (None, None))
    if context is None:
        return ((test_id, None), (None, None))
    return ((test_id, context), (test_id, None), (None, context), (None, None))
