"""What of the fakes is used up, and the journal of who asked: kept in one place for everybody who answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from passgrid.wire.mcp_service import Identity

DEFAULT_CAP = 500
"""Test ids with state on a mount; 0 is no limit."""


class FakeOutcome(StrEnum):
    """How a call met the fakes."""

    ANSWERED = "answered"
    MISMATCH = "mismatch"
    EXHAUSTED = "exhausted"
    NOT_DECLARED = "not_declared"
    EVICTED = "evicted"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that matches a call."""

    entry_id: str
    times: int


@dataclass(frozen=True, slots=True)
class JournalRequest:
    """A message as it came, for the journal."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Ask:
    """A call, and the entries that could answer it."""

    mount: str
    identity: Identity
    request: JournalRequest
    tool: str | None = None
    candidates: tuple[Candidate, ...] = ()
    """In order: the first that is not used up answers."""
    tier: tuple[str, ...] = ()
    """Entries whose use is to be told."""
    otherwise: FakeOutcome | None = None
    """What it is where no candidate answers; None: it goes on to what stands behind the fakes."""
    session: str | None = None
    """In which it came, where there are sessions."""
    version: int = 0
    """Of the fakes it was decided with."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a call."""

    outcome: FakeOutcome | None
    entry_id: str | None = None
    used: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many calls each entry of the tier answered before this one; only told where none answered."""
    row: int = 0
    """The journal's row."""


class Stale(Exception):
    """What is loaded has changed since it was looked at; the state knows the new one now, so look again."""


class FakeState(Protocol):
    """Claims entries and writes the journal, each call in one step: whoever else answers for the same test."""

    async def ask(self, ask: Ask) -> Told:
        """Claim the first candidate that is not used up, and write the call into the journal.

        Raises `Stale`, and `SessionEnded` where the session was ended by way of another process.
        """
        ...

    async def note(self, mount: str, identity: Identity, request: JournalRequest, session: str | None) -> int:
        """Write a message into the journal that is no call of a tool; returns its row. Raises `SessionEnded`."""
        ...

    async def answered(self, row: int, answered: str, *, failed: bool, result: Any) -> None:
        """Say how a call was answered that went on past the fakes: recorded, live, missed or unknown."""
        ...

    async def used(self, mount: str, test_id: str | None) -> Mapping[str, int]:
        """How many calls each entry answered, for one test."""
        ...
