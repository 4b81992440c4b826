"""How much of what was wanted was measured, and between which bounds the missing part leaves the pass rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from operator import index

from .aggregate import mean_pass_at
from .tally import Tally

#: Below this coverage a figure is no headline and a gate is inconclusive.
ENOUGH = 0.95


@dataclass(frozen=True, slots=True)
class Coverage:
    """What stands beside every figure. Infra errors, misses and cancelled attempts are not failures, but unknowns."""

    #: Attempts with a valid outcome.
    valid: int
    #: Attempts asked for.
    wanted: int
    #: The pass rate with errors excluded (mean over scenarios of c / n); N/A where a scenario has no valid attempt.
    rate: float | None
    #: The pass rate had every missing attempt failed ("errors as failures"); N/A where none was wanted.
    low: float | None
    #: The pass rate had every missing attempt passed; N/A where none was wanted.
    high: float | None

    @property
    def errors(self) -> int:
        """Wanted attempts without a valid outcome."""
        return self.wanted - self.valid

    @property
    def share(self) -> float | None:
        """valid / wanted; N/A where none was wanted."""
        return self.valid / self.wanted if self.wanted else None

    @property
    def enough(self) -> bool:
        """At least 95 % of the wanted attempts are valid."""
        return self.share is not None and self.share >= ENOUGH

    @property
    def headline_withheld(self) -> bool:
        """The rate is not to be shown as a result of its own, only with its bounds."""
        return not self.enough


def coverage(tallies: Sequence[Tally], wanted: Sequence[int]) -> Coverage:
    """Of an arm, or of one scenario with sequences of length one.

    Args:
        tallies: what each scenario gave.
        wanted: how many attempts of each were asked for, in the same order.

    Returns:
        Counts over all attempts; rates as means over the scenarios, of which those with none wanted have no part.

    Raises:
        ValueError: for lengths that differ or more valid attempts than wanted.

    Example: 4 wanted, 1 passed, 3 errors is a rate of 1.0 (1 of 1) between 0.25 and 1.0, at a share of 0.25.
    """
    if len(tallies) != len(wanted):
        raise ValueError(f"{len(tallies)} tallies, but {len(wanted)} counts of wanted attempts")
    for tally, count in zip(tallies, wanted, strict=True):
        if tally.valid > index(count):
            raise ValueError(f"{tally.valid} valid attempts of only {count} wanted")
    asked = [(tally, count) for tally, count in zip(tallies, wanted, strict=True) if count]
    lows = [tally.passed / count for tally, count in asked]
    highs = [(tally.passed + count - tally.valid) / count for tally, count in asked]
    return Coverage(
        valid=sum(tally.valid for tally in tallies),
        wanted=sum(wanted),
        rate=mean_pass_at([tally for tally, _ in asked], 1),
        low=fsum(lows) / len(lows) if lows else None,
        high=fsum(highs) / len(highs) if highs else None,
    )
