"""The state of fakes in one process: of an attempt, of a test, of a front for one client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from passgrid.fakes.state import DEFAULT_CAP, Ask, FakeOutcome, JournalRequest, Told
from passgrid.wire.mcp_service import Identity


@dataclass
class JournalEntry:
    """One message, and what came of it."""

    mount: str
    identity: Identity
    request: JournalRequest
    tool: str | None
    outcome: FakeOutcome | None
    entry_id: str | None
    answered: str | None = None
    """What answered it where fakes did not."""
    failed: bool = False
    result: Any = None


@dataclass
class _TestState:
    used: Counter[str] = field(default_factory=Counter[str])
    evicted: bool = False


class MemoryState:
    """Nothing outlives the process. One step never gives way to another task, so no claim is made twice."""

    def __init__(self, cap: int = DEFAULT_CAP) -> None:
        self._cap = cap
        self._tests: dict[tuple[str, str | None], _TestState] = {}
        self.journal: list[JournalEntry] = []

    async def ask(self, ask: Ask) -> Told:
        """See `FakeState`."""
        state = self._tests.get((ask.mount, ask.identity.test_id))
        told = _told(ask, state)
        if told.entry_id is not None:
            state = state or self._begun(ask.mount, ask.identity.test_id)
            state.used[told.entry_id] += 1
        self.journal.append(JournalEntry(ask.mount, ask.identity, ask.request, ask.tool, told.outcome, told.entry_id))
        return Told(told.outcome, told.entry_id, told.used, len(self.journal) - 1)

    async def note(self, mount: str, identity: Identity, request: JournalRequest, session: str | None) -> int:
        """See `FakeState`."""
        self.journal.append(JournalEntry(mount, identity, request, None, None, None))
        return len(self.journal) - 1

    async def answered(self, row: int, answered: str, *, failed: bool, result: Any) -> None:
        """See `FakeState`."""
        entry = self.journal[row]
        entry.answered, entry.failed, entry.result = answered, failed, result

    async def used(self, mount: str, test_id: str | None) -> Mapping[str, int]:
        """See `FakeState`."""
        state = self._tests.get((mount, test_id))
        return dict(state.used) if state else {}

    def evicted(self, mount: str, test_id: str | None) -> bool:
        """Whether a test lost its state to newer ones."""
        state = self._tests.get((mount, test_id))
        return state is not None and state.evicted

    def reset(self) -> None:
        """Forget what is used up; the journal stays."""
        self._tests.clear()

    def _begun(self, mount: str, test_id: str | None) -> _TestState:
        """The state of a test that has its first answer now; the oldest may have to go for it."""
        if test_id is not None and self._cap:
            kept = [
                key for key, one in self._tests.items() if key[0] == mount and key[1] is not None and not one.evicted
            ]
            for key in kept[: max(0, len(kept) + 1 - self._cap)]:
                self._tests[key] = _TestState(evicted=True)
        return self._tests.setdefault((mount, test_id), _TestState())


def _told(ask: Ask, state: _TestState | None) -> Told:
    used: Mapping[str, int] = state.used if state else {}
    if state is not None and state.evicted:
        return Told(FakeOutcome.EVICTED)
    for candidate in ask.candidates:
        if used.get(candidate.entry_id, 0) < candidate.times:
            return Told(FakeOutcome.ANSWERED, candidate.entry_id)
    return Told(ask.otherwise, None, {entry: used[entry] for entry in ask.tier if entry in used})
