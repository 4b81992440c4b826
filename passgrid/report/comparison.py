"""Two arms, scenario by scenario: what differs, whether that can be believed, and what would settle it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from passgrid.report.arms import MEASURES, ArmReport
from passgrid.report.facts import ArmName
from passgrid.report.matching import differing_axes
from passgrid.statistics import (
    Advice,
    PairedChange,
    PairedDifference,
    Tally,
    advise,
    holm,
    mcnemar_exact,
    paired_change,
    paired_difference,
)

Finding = Literal["better", "worse", "no difference shown", "not to be said"]

SURE = 0.05
"""An adjusted p below it, with an interval on one side of zero, is a finding."""
ADVISED_DELTA = 0.05
"""The difference that advice is for, where no gate names a margin."""


@dataclass(frozen=True, slots=True)
class ArmComparison:
    """candidate - baseline."""

    baseline: ArmReport
    candidate: ArmReport
    difference: PairedDifference
    """Of pass@1."""
    changes: Mapping[str, PairedChange]
    """Of each of `MEASURES`."""
    mcnemar_p: float | None
    """Exact, where every scenario compared has one valid attempt in both arms; else None."""
    adjusted_p: float | None
    """The sign-flip p of the difference, by Holm over the comparisons shown."""
    advice: Advice | None

    @property
    def differing(self) -> tuple[tuple[str, str, str], ...]:
        """Axis, baseline's value and candidate's value, for each axis in which they differ."""
        one, other = self.baseline.name, self.candidate.name
        return tuple((axis, getattr(one, axis), getattr(other, axis)) for axis in differing_axes(one, other))

    @property
    def same_attempts(self) -> bool:
        """Both replayed the very same recordings, to the same outcomes: one and the same sample, not two alike.

        Ids of attempts name their recordings in replay only; elsewhere equal ids are samples of the same thing.
        """
        if {self.baseline.name.mode, self.candidate.name.mode} != {"replay"}:
            return False
        before, after = ({one.key: one.endings for one in arm.scenarios} for arm in (self.baseline, self.candidate))
        return before == after

    @property
    def withheld(self) -> bool:
        """Too little was measured in one of the arms for a difference to be shown."""
        return self.baseline.coverage.headline_withheld or self.candidate.coverage.headline_withheld

    @property
    def finding(self) -> Finding:
        """What can be said: the interval and the adjusted p both have to say it."""
        interval, p = self.difference.interval, self.adjusted_p
        if self.withheld or interval is None or p is None:
            return "not to be said"
        if p < SURE and interval.low > 0:
            return "better"
        return "worse" if p < SURE and interval.high < 0 else "no difference shown"


def compare_arms(pairs: Sequence[tuple[ArmReport, ArmReport]], delta: float = ADVISED_DELTA) -> list[ArmComparison]:
    """One comparison for each pair of (baseline, candidate); all of them are shown together.

    Args:
        pairs: which arms.
        delta: the difference of pass rates that advice is for.
    """
    found = [_compare(baseline, candidate, delta) for baseline, candidate in pairs]
    adjusted = holm([None if one.withheld else one.difference.p_value for one in found])
    return [replace(one, adjusted_p=p) for one, p in zip(found, adjusted, strict=True)]


def pass_rates(arm: ArmReport) -> dict[str, float | None]:
    """The pass rate of each scenario; None without a valid attempt."""
    return {one.key: one.passed / one.valid if one.valid else None for one in arm.scenarios}


def _compare(baseline: ArmReport, candidate: ArmReport, delta: float) -> ArmComparison:
    difference = paired_difference(pass_rates(baseline), pass_rates(candidate))
    return ArmComparison(
        baseline=baseline,
        candidate=candidate,
        difference=difference,
        changes={measure: paired_change(_used(baseline, measure), _used(candidate, measure)) for measure in MEASURES},
        mcnemar_p=_mcnemar(baseline, candidate, difference),
        adjusted_p=None,
        advice=advise(_tallies(baseline), _tallies(candidate), delta),
    )


def _tallies(arm: ArmReport) -> dict[str, Tally]:
    return {one.key: one.tally for one in arm.scenarios}


def _used(arm: ArmReport, measure: str) -> dict[str, float | None]:
    return {one.key: one.used.get(measure) for one in arm.scenarios}


def _mcnemar(baseline: ArmReport, candidate: ArmReport, difference: PairedDifference) -> float | None:
    shared = set(difference.scenarios)
    counts = {one.valid for arm in (baseline, candidate) for one in arm.scenarios if one.key in shared}
    return mcnemar_exact(difference.losses, difference.wins) if counts == {1} else None


def arms_by_name(arms: Sequence[ArmReport]) -> dict[ArmName, ArmReport]:
    """To find the arms of names that were matched."""
    return {arm.name: arm for arm in arms}
