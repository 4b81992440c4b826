"""When a recorded call may answer another one: what a suite says of its tools, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from passgrid.json_values import is_object

Paths = tuple[Annotated[str, Field(min_length=1)], ...]


class MatchingRules(BaseModel):
    """`matching:` in a suite's `suite.yaml`. Everything is optional; without it only what is certain matches."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reads: tuple[str, ...] = Field(
        default=(), description="Tools that change nothing though their server does not say so; `get_*` works."
    )
    writes: tuple[str, ...] = Field(
        default=(), description="Tools that do change something, whatever their server says."
    )
    depends: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="By tool: the writing tools its answer depends on. Every one of them where a tool is not named.",
    )
    volatile: dict[str, Paths] = Field(
        default_factory=dict, description="By tool: arguments that are new each time and decide nothing, by path."
    )
    ids: dict[str, Paths] = Field(
        default_factory=dict, description="By tool: places in its results that hold an id it made, by path."
    )
    semantic: Annotated[float, Field(gt=0, le=1)] | bool = Field(
        default=False,
        description="Let a read-only call with other words, and nothing else different, be answered: true, or the "
        "least similarity. Needs the extra `semantic`.",
    )

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        both = sorted(set(self.reads) & set(self.writes))
        if both:
            raise ValueError(f"{', '.join(both)}: both in reads and in writes")
        return self

    def merged(self, learned: MatchingRules) -> MatchingRules:
        """These rules with the places another set names besides."""
        return self.model_copy(
            update={"volatile": _joined(self.volatile, learned.volatile), "ids": _joined(self.ids, learned.ids)}
        )


def _joined(left: Mapping[str, Paths], right: Mapping[str, Paths]) -> dict[str, Paths]:
    return {name: tuple(dict.fromkeys((*left.get(name, ()), *right.get(name, ())))) for name in {**left, **right}}


NO_RULES = MatchingRules()


class ToolRules:
    """Which of the listed tools only read, and which writing tools the answer of each depends on."""

    def __init__(self, rules: MatchingRules, tools: Iterable[Mapping[str, Any]]) -> None:
        """tools: as a server lists them, with their annotations."""
        self.rules = rules
        self._hinted = {tool["name"] for tool in tools if _hinted(tool)}
        self.reads = cache(self._reads)
        self.relevant = cache(self._relevant)

    def _reads(self, tool: str) -> bool:
        """Whether a tool changes nothing; one that nobody knows is treated as writing."""
        if any(fnmatchcase(tool, pattern) for pattern in self.rules.writes):
            return False
        return tool in self._hinted or any(fnmatchcase(tool, pattern) for pattern in self.rules.reads)

    def _relevant(self, tool: str) -> frozenset[str] | None:
        """The writing tools whose calls may change what `tool` answers, directly or through each other.

        None: every writing tool.
        """
        found: set[str] = set()
        waiting = [tool]
        while waiting:
            direct = self.rules.depends.get(waiting.pop())
            if direct is None:
                return None
            waiting += set(direct) - found
            found |= set(direct)
        return frozenset(found)

    def matters(self, write: str, tool: str) -> bool:
        """Whether a call of `write` may change what `tool` answers."""
        relevant = self.relevant(tool)
        return relevant is None or write in relevant

    def volatile(self, tool: str) -> Collection[str]:
        """Arguments of a tool that are new each time."""
        return self.rules.volatile.get(tool, ())

    def ids(self, tool: str) -> Collection[str]:
        """Places of ids in a tool's results."""
        return self.rules.ids.get(tool, ())


def _hinted(tool: Mapping[str, Any]) -> bool:
    annotations = tool.get("annotations")
    return is_object(annotations) and annotations.get("readOnlyHint") is True
