"""Mistakes in blocks of fakes: all of them are collected, each under the name of the rule it breaks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from passgrid.problems import PassgridError


class Rule(StrEnum):
    """What a block must keep; the names are those of the contract."""

    NO_SCOPE = "a"
    BAD_SCOPE = "b"
    SHARED_DENY = "c"
    BAD_CALL = "d"
    DUPLICATE_TOOL = "e"
    ID_COLLISION = "f"
    BAD_SHAPE = "g"
    UNKNOWN_KEY = "h"
    WRONG_TYPE = "i"
    ANY_ARGS = "j"


@dataclass(frozen=True, slots=True)
class LoadError:
    """One mistake."""

    name: str
    """`mcp-fakes/bad-block` or `mcp-fakes/mount-conflict`."""
    rule: str | None
    file: str
    block_id: str | None
    entry_id: str | None
    message: str

    def detail(self) -> dict[str, Any]:
        """As the control API tells it."""
        return {
            "name": self.name,
            "rule": self.rule,
            "file": self.file,
            "blockId": self.block_id,
            "entryId": self.entry_id,
            "message": self.message,
        }

    def __str__(self) -> str:
        rule = f":{self.rule}" if self.rule else ""
        place = self.entry_id or self.block_id or self.file
        return f"{place}: {self.message} ({self.name}{rule})"


class UnusableFakes(PassgridError):
    """Nothing of it was loaded; `errors` are all there are."""

    exit_code = 2

    def __init__(self, errors: tuple[LoadError, ...]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = errors


@dataclass
class Complaints:
    """Collects what is wrong, and warnings."""

    file: str
    errors: list[LoadError] = field(default_factory=list[LoadError])
    warnings: list[str] = field(default_factory=list[str])

    def bad(self, rule: Rule, message: str, block: str | None = None, entry: str | None = None) -> None:
        """A rule is broken."""
        self.errors.append(LoadError("mcp-fakes/bad-block", str(rule), self.file, block, entry, message))

    def conflict(self, message: str, block: str | None = None) -> None:
        """A mount is somebody else's."""
        self.errors.append(LoadError("mcp-fakes/mount-conflict", None, self.file, block, None, message))
