"""One arm of a run: its rates with n and intervals, its distributions, and why it failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from passgrid.report.distribution import Distribution, distribution
from passgrid.report.facts import ArmName, AttemptFact
from passgrid.statistics import Coverage, Curve, Tally, coverage, curve

ANSWERS = ("live", "recorded", "recorded_state", "recorded_semantic", "faked", "faulted", "missed")


@dataclass(frozen=True, slots=True)
class Reason:
    """Why attempts did not pass."""

    reason: str
    count: int
    example: str
    """The id of one such attempt."""


MEASURES = ("steps", "duration_s", "tokens", "cost_usd")
"""What an attempt uses, compared scenario by scenario."""


@dataclass(frozen=True, slots=True)
class ScenarioTally:
    """One scenario of an arm."""

    suite: str
    scenario: str
    wanted: int
    valid: int
    passed: int
    used: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    """Mean over its valid attempts of each of `MEASURES`; None: unknown for at least one of them, or there is none."""
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    reasons: tuple[Reason, ...] = ()
    endings: frozenset[tuple[str, str]] = frozenset()
    """Id and outcome of each attempt."""

    @property
    def tally(self) -> Tally:
        """Its n and c."""
        return Tally(self.valid, self.passed)

    @property
    def key(self) -> str:
        """What it is paired by."""
        return f"{self.suite}/{self.scenario}"


@dataclass(frozen=True, slots=True)
class ArmReport:
    """Everything said of one arm."""

    name: ArmName
    scenarios: tuple[ScenarioTally, ...]
    coverage: Coverage
    passed: int
    pass_at: Curve
    pass_hat: Curve
    tool_calls: int
    model_turns: int
    steps: Distribution | None
    wasted_calls: int
    duration_s: Distribution | None
    working_s: Distribution | None
    """None: not measured of at least one attempt."""
    recovered: tuple[int | None, int | None]
    """Errors that attempts got over: those that say what to do, and others; None: nobody counted."""
    leftovers: int | None
    """Artifacts that are still there; None: nobody looked."""
    tokens: Distribution | None
    """None: unknown for at least one attempt."""
    cost_usd: float | None
    """None: unknown for at least one attempt."""
    stages: Mapping[str, tuple[int, int]]
    """(reached, expected) by stage, over valid attempts."""
    flags: Mapping[str, int]
    outcomes: Mapping[str, int]
    reasons: tuple[Reason, ...]
    answers: Mapping[str, int]
    step_counts: Mapping[int, int] = field(default_factory=dict[int, int])
    """Valid attempts by their number of steps; without those of which it is unknown."""

    @property
    def most_wanted(self) -> int:
        """The largest k that was wanted: its curves are N/A where they end before."""
        return max((one.wanted for one in self.scenarios), default=0)


def arm_reports(facts: Iterable[AttemptFact], *, most_k: int | None = None) -> list[ArmReport]:
    """One report for each arm, in the order the facts come.

    Args:
        facts: every wanted attempt, finished or not.
        most_k: no point of a curve beyond it; the smallest n of the arm's scenarios is the limit anyway.
    """
    arms: dict[ArmName, list[AttemptFact]] = {}
    for fact in facts:
        arms.setdefault(fact.arm, []).append(fact)
    return [_arm(name, of_arm, most_k) for name, of_arm in arms.items()]


def _arm(name: ArmName, facts: Sequence[AttemptFact], most_k: int | None) -> ArmReport:
    scenarios = scenario_tallies(facts)
    tallies = [one.tally for one in scenarios]
    ks = None if most_k is None else range(1, most_k + 1)
    valid = [fact for fact in facts if fact.valid]
    return ArmReport(
        name=name,
        scenarios=scenarios,
        coverage=coverage(tallies, [one.wanted for one in scenarios]),
        passed=sum(fact.passed for fact in valid),
        pass_at=curve(tallies, "at", ks=ks),
        pass_hat=curve(tallies, "hat", ks=ks),
        tool_calls=sum(fact.tool_calls or 0 for fact in facts),
        model_turns=sum(fact.model_turns or 0 for fact in facts),
        steps=distribution([fact.tool_calls for fact in valid]),
        wasted_calls=sum(fact.wasted_calls or 0 for fact in facts),
        duration_s=distribution([fact.duration_s for fact in valid]),
        working_s=distribution([fact.working_s for fact in valid]),
        recovered=(
            _sum_of_known([fact.recovered_structured for fact in facts]),
            _sum_of_known([fact.recovered_opaque for fact in facts]),
        ),
        leftovers=_sum_of_known([fact.leftovers for fact in facts]),
        tokens=distribution([fact.tokens for fact in valid]),
        cost_usd=_total([fact.cost_usd for fact in facts if fact.outcome is not None]),
        stages=_stages(valid),
        flags=Counter(flag for fact in valid for flag in fact.flags),
        outcomes=_outcomes(facts),
        reasons=_reasons(facts),
        answers=_answers(facts),
        step_counts=Counter(fact.tool_calls for fact in valid if fact.tool_calls is not None),
    )


def scenario_tallies(facts: Iterable[AttemptFact]) -> tuple[ScenarioTally, ...]:
    """n and c of every scenario, sorted by name."""
    by_scenario: dict[tuple[str, str], list[AttemptFact]] = {}
    for fact in facts:
        by_scenario.setdefault((fact.suite, fact.scenario), []).append(fact)
    return tuple(
        ScenarioTally(
            suite,
            scenario,
            wanted=len(found),
            valid=sum(fact.valid for fact in found),
            passed=sum(fact.valid and fact.passed for fact in found),
            used=_used([fact for fact in found if fact.valid]),
            outcomes=_outcomes(found),
            reasons=_reasons(found),
            endings=frozenset((fact.attempt_id, fact.outcome or "unfinished") for fact in found),
        )
        for (suite, scenario), found in sorted(by_scenario.items())
    )


def _used(valid: Sequence[AttemptFact]) -> dict[str, float | None]:
    return {
        "steps": _mean([fact.tool_calls for fact in valid]),
        "duration_s": _mean([fact.duration_s for fact in valid]),
        "tokens": _mean([fact.tokens for fact in valid]),
        "cost_usd": _mean([fact.cost_usd for fact in valid]),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    total = _total(values)
    return None if total is None else total / len(values)


def _outcomes(facts: Sequence[AttemptFact]) -> Counter[str]:
    return Counter(fact.outcome or "unfinished" for fact in facts)


def _sum_of_known(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _stages(valid: Sequence[AttemptFact]) -> dict[str, tuple[int, int]]:
    reached: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for fact in valid:
        expected.update(fact.stages.keys())
        reached.update(stage for stage, there in fact.stages.items() if there)
    return {stage: (reached[stage], count) for stage, count in sorted(expected.items())}


def _reasons(facts: Sequence[AttemptFact]) -> tuple[Reason, ...]:
    found: dict[str, list[str]] = {}
    for fact in facts:
        if fact.outcome is not None and not fact.passed:
            found.setdefault(fact.reason or fact.outcome, []).append(fact.attempt_id)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(Reason(reason, len(ids), min(ids)) for reason, ids in ordered)


def _answers(facts: Sequence[AttemptFact]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for fact in facts:
        counts.update(fact.answers)
    return {name: counts.get(name, 0) for name in ANSWERS}
