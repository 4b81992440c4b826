"""Recordings of one scenario, merged: which calls were made in which state, and what was answered there.

Recordings merge into one *world* where they agree: what both recorded for one call in one state is the same but for
values that are new each time. Those that disagree saw another world, and never answer for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import NO_RULES, MatchingRules, ToolRules
from passgrid.cassettes.track import Occurrence, Track, TrackStep, laid_out
from passgrid.cassettes.volatile import rewritten


class World:
    """Recordings that agree with each other."""

    def __init__(self, rules: ToolRules) -> None:
        self.rules = rules
        self.tracks: dict[int, Track] = {}
        self._literal: dict[tuple[str, bytes, str], dict[int, list[Occurrence]]] = {}
        self._symbolic: dict[tuple[str, bytes, str], dict[int, list[Occurrence]]] = {}
        self._together: dict[str, list[TrackStep]] = {}

    def agrees(self, track: Track) -> bool:
        """Whether nothing in another recording contradicts what is here."""
        return all(self._agree(track, there, others) for there, others in _by_node(track.occurrences).items())

    def _agree(self, track: Track, there: tuple[str, bytes, str], others: list[Occurrence]) -> bool:
        for recording, known in self._symbolic.get(there, {}).items():
            for ours, theirs in zip(known, others, strict=False):
                if self._told(ours, self.tracks[recording]) != self._told(theirs, track):
                    return False
        return True

    def _told(self, one: Occurrence, track: Track) -> tuple[bool, bytes]:
        """An answer with what its tokens stand for in their place."""
        symbols = track.symbols

        def stands_for(place: str, kind: str, token: Any) -> str:
            return symbols.of(token) or f"<{kind}>"

        plain = rewritten(one.answer, stands_for, self.rules.ids(one.tool))
        return one.call.error is not None, canonical_arguments(plain)

    def add(self, track: Track) -> None:
        """Take a recording in."""
        self.tracks[track.recording] = track
        for one in track.occurrences:
            if not one.certain:
                continue
            if one.spelled.literal is not None:
                _append(self._literal, (one.tool, one.spelled.literal, one.state), one)
            _append(self._symbolic, (one.tool, one.spelled.symbolic, one.state), one)
        for step in track.steps:
            if len(step.occurrences) > 1 and step.writes:
                self._together.setdefault(_tools(write.tool for write in step.writes), []).append(step)

    def recorded(
        self, tool: str, literal: bytes | None, symbolic: bytes, state: str
    ) -> Iterator[dict[int, list[Occurrence]]]:
        """What was recorded of a call in a state, by recording: with these arguments, then with their meaning."""
        if literal is not None and (tool, literal, state) in self._literal:
            yield self._literal[tool, literal, state]
        yield self._symbolic.get((tool, symbolic, state), {})

    def recorded_together(self, tools: Iterable[str]) -> Sequence[TrackStep]:
        """Steps in which just these writing tools overlapped."""
        return self._together.get(_tools(tools), ())

    def occurrences_of(self, tool: str) -> Iterator[Occurrence]:
        """Every recorded call of a tool."""
        return (one for track in self.tracks.values() for one in track.occurrences if one.tool == tool)


class StateGraph:
    """All recordings of one scenario."""

    def __init__(self, cassettes: Sequence[Cassette], rules: MatchingRules = NO_RULES) -> None:
        """cassettes: resolved; the first is preferred where several could answer."""
        tools: dict[str, dict[str, Any]] = {}
        for cassette in cassettes:
            for tool in cassette.tools or ():
                tools.setdefault(tool["name"], tool)
        self.rules = ToolRules(rules, tools.values())
        self.tools = tools
        self.worlds: list[World] = []
        for i, cassette in enumerate(cassettes):
            self._add(laid_out(cassette, i, self.rules))

    def _add(self, track: Track) -> None:
        for world in self.worlds:
            if world.agrees(track):
                world.add(track)
                return
        self.worlds.append(World(self.rules))
        self.worlds[-1].add(track)


def _append(
    index: dict[tuple[str, bytes, str], dict[int, list[Occurrence]]], key: tuple[str, bytes, str], one: Occurrence
) -> None:
    index.setdefault(key, {}).setdefault(one.recording, []).append(one)


def _by_node(occurrences: Iterable[Occurrence]) -> dict[tuple[str, bytes, str], list[Occurrence]]:
    found: dict[tuple[str, bytes, str], list[Occurrence]] = {}
    for one in occurrences:
        if one.certain:
            found.setdefault((one.tool, one.spelled.symbolic, one.state), []).append(one)
    return found


def _tools(names: Iterable[str]) -> str:
    return "\n".join(sorted(names))
