"""May this change be released? A verdict with an exit code."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from .change import PairedChange
from .compare import PairedDifference
from .coverage import ENOUGH, Coverage

#: What a gate can say.
Verdict = Literal["pass", "regression", "inconclusive"]

#: The exit code of each verdict (1 is an error of the tool, 2 wrong usage).
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "regression": 3, "inconclusive": 4}


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What the gate says, and why."""

    #: pass, regression or inconclusive.
    verdict: Verdict
    #: One sentence with the numbers that decided.
    reason: str
    #: How much worse the candidate may be, as a proportion; of a change in use, of the baseline's.
    margin: float
    #: The difference that was judged.
    difference: PairedDifference | PairedChange

    @property
    def exit_code(self) -> int:
        """0 pass, 3 regression, 4 inconclusive."""
        return EXIT_CODES[self.verdict]


def gate(
    difference: PairedDifference, *, margin: float, baseline_coverage: Coverage, candidate_coverage: Coverage
) -> GateVerdict:
    """Judge the 95 % interval of candidate - baseline.

    Pass when its lower end is not below -margin. Regression when it does not pass and its upper end is below 0: an
    interval that merely reaches below -margin proves nothing, and would call 40 % of identical arms worse.
    Otherwise, without an interval, or below 95 % coverage of either arm: inconclusive.

    Args:
        difference: of the two arms.
        margin: the tolerated loss as a proportion: 0.05 is five points.
        baseline_coverage: of the baseline.
        candidate_coverage: of the candidate.

    Raises:
        ValueError: for a margin below 0, infinite or NaN.
    """
    if not 0 <= margin < inf:
        raise ValueError(f"a margin is a proportion of 0 or more, not {margin}")
    verdict, reason = _judge(difference, margin, {"baseline": baseline_coverage, "candidate": candidate_coverage})
    return GateVerdict(verdict, reason, margin, difference)


def _judge(difference: PairedDifference, margin: float, coverages: dict[str, Coverage]) -> tuple[Verdict, str]:
    if uncovered := _uncovered(coverages):
        return "inconclusive", uncovered
    interval = difference.interval
    if interval is None:
        count = len(difference.scenarios)
        return "inconclusive", f"{count} scenario{'' if count == 1 else 's'} in common, an interval needs two"
    span = f"the difference lies between {interval.low:+.1%} and {interval.high:+.1%}"
    if interval.low >= -margin:
        return "pass", f"{span}, not below the margin of {-margin:.1%}"
    if interval.high < 0:
        return "regression", f"{span}, all of it below zero"
    return "inconclusive", f"{span}: it may be below the margin of {-margin:.1%}, and may be zero"


def gate_change(
    change: PairedChange, *, margin: float, baseline_coverage: Coverage, candidate_coverage: Coverage
) -> GateVerdict:
    """Judge how much more the candidate uses, as :func:`gate` judges pass rates: there, more is worse.

    Pass when the upper end of the 95 % interval is not above margin times the baseline's mean, or nothing changed at
    all. Regression when it does not pass and the lower end is above 0. Otherwise inconclusive.

    Args:
        change: of the two arms.
        margin: the tolerated growth as a proportion of the baseline's mean: 0.1 is ten percent more.
        baseline_coverage: of the baseline.
        candidate_coverage: of the candidate.

    Raises:
        ValueError: for a margin below 0, infinite or NaN.
    """
    if not 0 <= margin < inf:
        raise ValueError(f"a margin is a proportion of 0 or more, not {margin}")
    verdict, reason = _judge_change(change, margin, {"baseline": baseline_coverage, "candidate": candidate_coverage})
    return GateVerdict(verdict, reason, margin, change)


def _judge_change(change: PairedChange, margin: float, coverages: dict[str, Coverage]) -> tuple[Verdict, str]:
    if uncovered := _uncovered(coverages):
        return "inconclusive", uncovered
    if change.mean is None or change.baseline is None:
        return "inconclusive", "it is unknown in all scenarios in common"
    if change.unchanged:
        return "pass", f"it is the same in all {len(change.scenarios)} scenarios"
    if change.interval is None or change.baseline <= 0:
        return "inconclusive", f"{len(change.scenarios)} scenarios in common, without a spread to judge by"
    low, high = (end / change.baseline for end in change.interval)
    span = f"the change lies between {low:+.1%} and {high:+.1%}"
    if high <= margin:
        return "pass", f"{span}, not above the margin of {margin:+.1%}"
    if low > 0:
        return "regression", f"{span}, all of it above zero"
    return "inconclusive", f"{span}: it may be above the margin of {margin:+.1%}, and may be zero"


def _uncovered(coverages: dict[str, Coverage]) -> str | None:
    for arm, coverage in coverages.items():
        if not coverage.enough:
            return f"{arm}: {coverage.valid} of {coverage.wanted} attempts valid, under {ENOUGH:.0%}"
    return None
