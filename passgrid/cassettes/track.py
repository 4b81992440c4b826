"""One recording laid out for matching: its calls step by step, each with the state it was made in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passgrid.cassettes.calls import RecordedCall, overlapping_calls
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.history import History, Write
from passgrid.cassettes.matching import ToolRules
from passgrid.cassettes.symbols import Spelled, Symbols
from passgrid.identity import content_hash


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One recorded call where it stands."""

    recording: int
    position: int
    """Among the calls of the recording, by step and request."""
    call: RecordedCall
    spelled: Spelled
    state: str
    """What its tool can tell of the history before it."""
    certain: bool
    """False: it overlapped a write that it depends on, so the state it saw is not known."""

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return self.call.tool

    @property
    def node(self) -> str:
        """The same for calls that mean the same in the same state, whichever recording they are in."""
        return content_hash(f"{self.tool}\n{self.state}\n".encode() + self.spelled.symbolic)[:16]

    @property
    def answer(self) -> Any:
        """The error, else the result."""
        return self.call.error if self.call.error is not None else self.call.result


@dataclass(frozen=True, slots=True)
class TrackStep:
    """Calls that overlapped, or one that did not."""

    mark: str
    occurrences: tuple[Occurrence, ...]
    before: History
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """A recording laid out."""

    recording: int
    steps: tuple[TrackStep, ...]
    symbols: Symbols
    end: History
    workspace: Mapping[str, Any]
    """The files at its end."""

    @property
    def occurrences(self) -> list[Occurrence]:
        """Every call, by position."""
        return [one for step in self.steps for one in step.occurrences]


def laid_out(cassette: Cassette, recording: int, rules: ToolRules) -> Track:
    """The calls of a recording with their states, and what its tokens stand for."""
    symbols = Symbols()
    symbols.said(str(cassette.system or ""))
    for step in cassette.steps:
        if "user" in step:
            symbols.said(str(step["user"]))
    history = History()
    steps: list[TrackStep] = []
    position = 0
    for number, calls in enumerate(overlapping_calls(cassette)):
        occurrences = _step(calls, recording, position, history, symbols, rules)
        writes = tuple(Write(one.tool, one.node) for one in occurrences if not rules.reads(one.tool))
        steps.append(TrackStep(f"{recording}/{number}", occurrences, history, writes))
        history = history.after(steps[-1].mark, writes)
        position += len(calls)
    return Track(recording, tuple(steps), symbols, history, cassette.workspace)


def _step(
    calls: Sequence[RecordedCall], recording: int, position: int, history: History, symbols: Symbols, rules: ToolRules
) -> tuple[Occurrence, ...]:
    writing = [call for call in calls if not rules.reads(call.tool)]
    occurrences = tuple(
        Occurrence(
            recording=recording,
            position=position + i,
            call=call,
            spelled=symbols.spelled(call.arguments, rules.volatile(call.tool)),
            state=history.state_for(rules.relevant(call.tool)),
            certain=not any(other is not call and rules.matters(other.tool, call.tool) for other in writing),
        )
        for i, call in enumerate(calls)
    )
    for one in occurrences:
        for place, token in one.spelled.fresh.items():
            symbols.bind(token, f"{{{one.node}/arguments/{place}}}")
        symbols.learn(one.answer, one.node, rules.ids(one.tool))
    return occurrences
