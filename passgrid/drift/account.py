"""What one attempt found out about drift: for each tool how many answers were equal, and every finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from passgrid.drift.findings import RESULT, Finding, example, merged
from passgrid.drift.projection import projected
from passgrid.drift.results import Answer, Difference, answer_differences


@dataclass(frozen=True, slots=True)
class ToolTally:
    """The calls of one tool that were made, and what came of them."""

    server: str
    tool: str
    calls: int = 0
    compared: int = 0
    """Calls whose live answer was compared with the recorded one."""
    equal: int = 0
    """Of these, the equal ones."""
    missing: bool = False
    """The server lacks the tool: its calls were answered from the recording."""

    def plus(self, other: ToolTally) -> ToolTally:
        """Both together."""
        return replace(
            self,
            calls=self.calls + other.calls,
            compared=self.compared + other.compared,
            equal=self.equal + other.equal,
            missing=self.missing or other.missing,
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """One call that was answered, and both answers."""

    server: str
    tool: str
    recorded: Answer | None
    """None where nothing is recorded to compare with."""
    live: Answer | None
    """None where the server lacks the tool."""
    projection: str | None = None


@dataclass(frozen=True, slots=True)
class DriftAccount:
    """The drift one attempt saw."""

    tools: tuple[ToolTally, ...]
    findings: tuple[Finding, ...]

    def without(self, clean: Callable[[Any], Any]) -> DriftAccount:
        """The same with `clean` applied to every example: it takes secrets out."""
        findings = [replace(one, recorded=clean(one.recorded), live=clean(one.live)) for one in self.findings]
        return replace(self, findings=tuple(findings))


def account(surface: Iterable[Finding], observed: Iterable[Observed]) -> DriftAccount:
    """Put together what an attempt saw."""
    tallies: dict[tuple[str, str], ToolTally] = {}
    findings = list(surface)
    for call in observed:
        tally, differences = _judged(call)
        there = tallies.get((call.server, call.tool))
        tallies[call.server, call.tool] = tally if there is None else there.plus(tally)
        findings += [_finding(call, one) for one in differences]
    return DriftAccount(tuple(tallies.values()), merged(findings))


def _judged(call: Observed) -> tuple[ToolTally, list[Difference]]:
    tally = ToolTally(call.server, call.tool, calls=1, missing=call.live is None)
    if call.live is None or call.recorded is None:
        return tally, []
    differences = answer_differences(_unwrapped(call.recorded, call.projection), _unwrapped(call.live, call.projection))
    return replace(tally, compared=1, equal=int(not differences)), differences


def _unwrapped(answer: Answer, projection: str | None) -> Answer:
    return replace(answer, value=projected(answer.value, projection))


def _finding(call: Observed, one: Difference) -> Finding:
    return Finding(
        RESULT, call.server, call.tool, one.place, one.change, one.severity, example(one.recorded), example(one.live)
    )
