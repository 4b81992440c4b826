"""What Compare shows: the arms and filters its address names, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.arm_names import arm_key, short_names
from dashboard.open_store import OpenStore, facts, report
from dashboard.palette import ARMS, LETTERS, SHAPES
from passgrid.report.arms import ArmReport, scenario_tallies
from passgrid.report.facts import AttemptFact
from passgrid.statistics import Tally, common_k, coverage
from passgrid.warehouse.analysis.arms import ArmRow

Scenario = tuple[str, str]
"""Suite and name."""


@dataclass(frozen=True, slots=True)
class ComparedArm:
    """One arm on the page: how it is marked, and what it says."""

    letter: str
    colour: str
    shape: str
    key: str
    name: str
    """Short, in plain text."""
    row: ArmRow
    report: ArmReport
    facts: tuple[AttemptFact, ...]

    @property
    def title(self) -> str:
        """Its letter and name, as charts and tables write it."""
        return f"{self.letter}  {self.name}"

    @property
    def withheld(self) -> bool:
        """Too little was measured for its rates to be shown."""
        return self.report.coverage.headline_withheld


@dataclass(frozen=True, slots=True)
class Comparison:
    """The arms compared, and the last k all of them (but those withheld) have a value for."""

    arms: tuple[ComparedArm, ...]
    kept: frozenset[Scenario] | None
    """Scenarios that pass the filters; None without a filter."""
    most_k: int
    without: tuple[str, ...]
    """Names of chosen arms that have no attempt under the filter."""


def compare(opened: OpenStore, chosen: Sequence[ArmRow], kept: frozenset[Scenario] | None) -> Comparison:
    """Reports of these arms over the scenarios kept, with curves up to one common k."""
    of_arms = [_facts_of(opened, row, kept) for row in chosen]
    names = short_names([row.name for row in chosen])
    most_k = _common_k(of_arms)
    arms: list[ComparedArm] = []
    without: list[str] = []
    for number, (row, found) in enumerate(zip(chosen, of_arms, strict=True)):
        said = report(opened, row.name, kept, most_k)
        if said is None:
            without.append(names[number])
            continue
        marks = (LETTERS[number], ARMS[number], SHAPES[number])
        arms.append(ComparedArm(*marks, arm_key(row.name), names[number], row, said, tuple(found)))
    return Comparison(tuple(arms), kept, most_k, tuple(without))


def _facts_of(opened: OpenStore, row: ArmRow, kept: frozenset[Scenario] | None) -> list[AttemptFact]:
    return [
        fact
        for fact in facts(opened, row.name.run)
        if fact.arm == row.name and (kept is None or (fact.suite, fact.scenario) in kept)
    ]


def _common_k(of_arms: Sequence[Sequence[AttemptFact]]) -> int:
    """A curve ends at the smallest n over the arms that are drawn."""
    drawn: list[list[Tally]] = []
    for found in of_arms:
        scenarios = scenario_tallies(found)
        tallies = [one.tally for one in scenarios]
        if tallies and coverage(tallies, [one.wanted for one in scenarios]).enough:
            drawn.append(tallies)
    return common_k(drawn)
