"""A session over recordings: each call answered as it was recorded in the state the session is in, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from passgrid.cassettes.history import History, Write
from passgrid.cassettes.state_graph import StateGraph, World
from passgrid.cassettes.symbols import ID, Spelled, Symbols
from passgrid.cassettes.track import Occurrence, TrackStep
from passgrid.cassettes.volatile import rewritten

How = Literal["exact", "state", "semantic"]
Alike: TypeAlias = "Callable[[WorldSession, Call], tuple[Occurrence, float] | None]"
"""Finds a recorded call that asks the same in other words, and how alike they are."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked."""

    tool: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Served:
    """A recorded answer, with the ids of this session in it."""

    result: Any
    error: str | None
    how: How
    """exact: the very next call of the recording that was followed so far. state: recorded in this state."""
    recording: int
    score: float | None = None
    """Of a semantic answer."""


class NotRecorded(LookupError):
    """No recording knows the answer to this call in this state."""

    def __init__(self, call: Call) -> None:
        self.call = call
        super().__init__(call.tool)


class WorldSession:
    """A session in one world. Immutable from outside: `answered` gives the session after some calls."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.history = History()
        self.symbols = Symbols()
        self._used: Counter[str] = Counter()
        self._served: list[tuple[int, int]] = []
        self._last = next(iter(world.tracks))

    def copy(self) -> WorldSession:
        """One that can go on without this one."""
        other = WorldSession(self.world)
        other.history, other.symbols = self.history, self.symbols.copy()
        other._used, other._served, other._last = Counter(self._used), list(self._served), self._last
        return other

    def answered(self, calls: Sequence[Call], alike: Alike | None = None) -> tuple[WorldSession, list[Served]]:
        """Answer calls that overlap: as a recorded step with these writes, else one after the other.

        alike: asked last, for a call in other words.

        Raises:
            NotRecorded: for the first call without an answer; this session stays as it was.
        """
        if len(calls) > 1:
            for step in self.world.recorded_together(self._writing(calls)):
                after = self.copy()
                if (served := after._as_recorded(step, calls)) is not None:
                    return after, served
        after = self.copy()
        return after, [after._one(call, alike) for call in calls]

    def at_an_end(self) -> Mapping[str, Any] | None:
        """The files at the end of a recording that ended in the state this session is in; None where none did."""
        state = self.history.state_for(None)
        ends = (track for track in self.world.tracks.values() if track.end.state_for(None) == state)
        return next((track.workspace for track in ends), None)

    def _writing(self, calls: Iterable[Call]) -> list[str]:
        return [call.tool for call in calls if not self.world.rules.reads(call.tool)]

    def _one(self, call: Call, alike: Alike | None) -> Served:
        spelled = self._spelled(call)
        found = self._recorded(call, spelled)
        if found is None:
            same = alike(self, call) if alike is not None else None
            if same is None or not self._fits(same[0]):
                raise NotRecorded(call)
            return replace(self._serve(same[0], spelled), how="semantic", score=same[1])
        served = self._serve(found, spelled)
        if not self.world.rules.reads(call.tool):
            self.history = self.history.after("", [Write(call.tool, found.node)])
        return served

    def _spelled(self, call: Call) -> Spelled:
        return self.symbols.spelled(call.arguments, self.world.rules.volatile(call.tool))

    def _recorded(self, call: Call, spelled: Spelled) -> Occurrence | None:
        state = self.history.state_for(self.world.rules.relevant(call.tool))
        for found in self.world.recorded(call.tool, spelled.literal, spelled.symbolic, state):
            for recording in sorted(found, key=lambda recording: (recording != self._last, recording)):
                one = self._next_of(found[recording])
                if one is not None and self._means(one, spelled) and self._fits(one):
                    return one
        return None

    def _next_of(self, occurrences: Sequence[Occurrence]) -> Occurrence | None:
        """The n-th of equal calls. One more than was recorded is only known where they all gave the same."""
        n = self._used[occurrences[0].node]
        if n < len(occurrences):
            return occurrences[n]
        first = occurrences[0]
        same = all(one.answer == first.answer and one.call.error == first.call.error for one in occurrences)
        return first if same else None

    def _means(self, one: Occurrence, spelled: Spelled) -> bool:
        """Whether arguments that look the same mean the same: not where this session calls that thing otherwise."""
        theirs = self.world.tracks[one.recording].symbols
        other = False

        def look(place: str, kind: str, token: Any) -> Any:
            nonlocal other
            symbol = theirs.of(token)
            other |= symbol is not None and self.symbols.value_of.get(symbol, token) != token
            return token

        rewritten(one.call.arguments, look)
        return not other or one.spelled.symbolic == spelled.symbolic

    def _fits(self, one: Occurrence) -> bool:
        """Whether the ids of this session can be written into the answer: not where another id may stand in it."""
        theirs = self.world.tracks[one.recording].symbols
        places: list[str] = []

        def collect(place: str, kind: str, token: Any) -> Any:
            places.append(str(token))
            return token

        rewritten(one.answer, collect, self.world.rules.ids(one.tool))
        text = str(one.answer)
        for token, symbol in theirs.of_token.items():
            other = symbol.startswith(ID) and self.symbols.value_of.get(symbol, token) != theirs.value_of[symbol]
            if other and text.count(token) > places.count(token):
                return False
        return True

    def _serve(self, one: Occurrence, spelled: Spelled) -> Served:
        theirs = self.world.tracks[one.recording].symbols
        for place, token in spelled.fresh.items():
            self._follow(token, theirs, one.spelled.fresh.get(place))

        def ours(place: str, kind: str, token: Any) -> Any:
            symbol = theirs.of(token)
            if symbol is None:
                return token
            value = self.symbols.value_of.get(symbol, token)
            self.symbols.bind(value, symbol)
            return value

        answer = rewritten(one.answer, ours, self.world.rules.ids(one.tool))
        how: How = "exact" if self._follows(one, spelled) else "state"
        self._used[one.node] += 1
        self._served.append((one.recording, one.position))
        self._last = one.recording
        failed = one.call.error is not None
        return Served(None if failed else answer, answer if failed else None, how, one.recording)

    def _follow(self, token: str, theirs: Symbols, recorded: str | None) -> None:
        symbol = theirs.of(recorded) if recorded is not None else None
        if symbol is not None:
            self.symbols.bind(token, symbol)

    def _follows(self, one: Occurrence, spelled: Spelled) -> bool:
        """Whether this is what the one recording followed so far did next, in any order within a step."""
        steps = self.world.tracks[one.recording].steps
        done = len(self._served)
        step = next(step for step in steps if one.position <= step.occurrences[-1].position)
        first = step.occurrences[0].position
        same = one.spelled.literal == spelled.literal or one.spelled.symbolic == spelled.symbolic
        followed = {position for recording, position in self._served if recording == one.recording}
        before = followed >= set(range(first)) and len(followed) == done
        return same and before and one.position not in followed and done < first + len(step.occurrences)

    def _as_recorded(self, step: TrackStep, calls: Sequence[Call]) -> list[Served] | None:
        """Answer calls as a recorded step whose writes overlapped; None where it is another step."""
        if not self._same_state(step):
            return None
        left = list(step.occurrences)
        served: list[Served] = []
        state_before = self.history
        for call in calls:
            spelled = self._spelled(call)
            same = (one for one in left if one.tool == call.tool and _same(one.spelled, spelled))
            one = next((one for one in same if self._means(one, spelled)), None)
            if one is not None:
                left.remove(one)
            elif self.world.rules.reads(call.tool) and not self._depends_on(call, step):
                one = self._recorded(call, spelled)
            if one is None or not self._fits(one):
                return None
            served.append(self._serve(one, spelled))
        self.history = state_before.after(step.mark, step.writes)
        return served

    def _same_state(self, step: TrackStep) -> bool:
        """Whether the session is where the step was recorded, for every tool of it."""
        relevant = self.world.rules.relevant
        return all(one.state == self.history.state_for(relevant(one.tool)) for one in step.occurrences)

    def _depends_on(self, call: Call, step: TrackStep) -> bool:
        return any(self.world.rules.matters(write.tool, call.tool) for write in step.writes)


def _same(one: Spelled, other: Spelled) -> bool:
    return (one.literal is not None and one.literal == other.literal) or one.symbolic == other.symbolic


class RecordedSession:
    """A session over all recordings of a scenario: in the worlds that agree with everything answered so far."""

    def __init__(self, graph: StateGraph, alike: Alike | None = None) -> None:
        """alike: for calls in other words; None answers none."""
        self.graph = graph
        self.alive = [WorldSession(world) for world in graph.worlds]
        self._alike = alike

    def said(self, text: str) -> None:
        """What a person said: ids in it stand for themselves."""
        for session in self.alive:
            session.symbols.said(text)

    def answer(self, calls: Sequence[Call]) -> list[Served]:
        """The answers to calls that overlap. Raises `NotRecorded`; the session is then where it was before."""
        try:
            return self._answer(calls, None)
        except NotRecorded:
            if self._alike is None:
                raise
            return self._answer(calls, self._alike)

    def _answer(self, calls: Sequence[Call], alike: Alike | None) -> list[Served]:
        missing: NotRecorded | None = None
        for i, session in enumerate(self.alive):
            try:
                after, served = session.answered(calls, alike)
            except NotRecorded as miss:
                missing = missing or miss
                continue
            others = self.alive[:i] + self.alive[i + 1 :]
            self.alive = [after, *_agreeing(others, calls, served, alike)]
            return served
        raise missing or NotRecorded(calls[0])

    def end_workspace(self) -> Mapping[str, Any] | None:
        """The files at the end of this session, where a recording ended in its state; None where nobody knows."""
        ends = (session.at_an_end() for session in self.alive)
        return next((end for end in ends if end is not None), None)


def _agreeing(
    sessions: Iterable[WorldSession], calls: Sequence[Call], served: Sequence[Served], alike: Alike | None
) -> Iterable[WorldSession]:
    """The other worlds that would have answered the same."""
    for session in sessions:
        try:
            after, theirs = session.answered(calls, alike)
        except NotRecorded:
            continue
        if [(one.result, one.error) for one in theirs] == [(one.result, one.error) for one in served]:
            yield after
