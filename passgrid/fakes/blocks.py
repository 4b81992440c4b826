"""What a file of fakes holds, once it is read: blocks for a scope, with tools whose calls are answered in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from passgrid.fakes.args_schema import ArgsSchema
from passgrid.fakes.equality import difference_count, equal, first_difference
from passgrid.json_values import is_object
from passgrid.server import DEFAULT_MOUNT

Policy: TypeAlias = Literal["allow", "deny"]


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom a block is: everybody (`shared`), or one test, one context, or both."""

    test_id: str | None = None
    context: str | None = None

    @property
    def shared(self) -> bool:
        """Whether it is for everybody."""
        return self.test_id is None and self.context is None

    @property
    def tier(self) -> int:
        """How particular it is: 3 test and context, 2 test, 1 context, 0 shared."""
        return (2 if self.test_id is not None else 0) + (1 if self.context is not None else 0)

    def covers(self, test_id: str | None, context: str | None) -> bool:
        """Whether a request is in it; names are compared exactly."""
        return self.test_id in {None, test_id} and self.context in {None, context}


@dataclass(frozen=True, slots=True)
class AnyArgs:
    """Matches whatever is sent."""

    def matches(self, arguments: Any) -> bool:
        """Always."""
        return True

    def difference(self, arguments: Any) -> str | None:
        """Never one."""
        return None

    def distance(self, arguments: Any) -> int:
        """Nothing differs."""
        return 0

    def shown(self) -> dict[str, Any]:
        """As it was declared."""
        return {"anyArgs": True}


@dataclass(frozen=True, slots=True)
class Args:
    """Matches these arguments and no others; with `partial`, others beside them too."""

    expected: Mapping[str, Any]
    partial: bool = False

    def matches(self, arguments: Any) -> bool:
        """Whether they are the same."""
        if self.partial:
            return is_object(arguments) and self.difference(arguments) is None
        return equal(self.expected, arguments)

    def difference(self, arguments: Any) -> str | None:
        """Where they differ first."""
        return first_difference(self.expected, arguments, partial=self.partial)

    def distance(self, arguments: Any) -> int:
        """In how many places they differ."""
        return difference_count(self.expected, arguments, partial=self.partial)

    def shown(self) -> dict[str, Any]:
        """As it was declared."""
        return {"argsMatching": {"partial": self.expected}} if self.partial else {"args": self.expected}


Matcher: TypeAlias = AnyArgs | Args | ArgsSchema


@dataclass(frozen=True, slots=True)
class Entry:
    """One declared call: what it matches, and what it answers."""

    entry_id: str
    matcher: Matcher
    result: Mapping[str, Any]
    """The whole result of tools/call."""
    times: int = 1
    """How many calls it answers before it is used up."""
    delay_ms: float = 0


@dataclass(frozen=True, slots=True)
class FakedTool:
    """A tool of a block."""

    name: str
    entries: tuple[Entry, ...]
    description: str | None = None
    input_schema: Mapping[str, Any] | None = None

    def listed(self) -> dict[str, Any]:
        """As tools/list lists it."""
        described = {} if self.description is None else {"description": self.description}
        return {"name": self.name, **described, "inputSchema": self.input_schema or {"type": "object"}}


@dataclass(frozen=True, slots=True)
class Block:
    """Fakes for one scope on one mount."""

    block_id: str
    scope: Scope
    mount: str = DEFAULT_MOUNT
    undeclared: Policy | None = None
    """What a scoped block says of tools it does not declare."""
    tools: Mapping[str, FakedTool] = field(default_factory=dict[str, FakedTool])
    resources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """By address: `listed` and `contents`."""
    prompts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """By name: `listed` and `messages`."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every declared call."""
        return tuple(entry for tool in self.tools.values() for entry in tool.entries)
