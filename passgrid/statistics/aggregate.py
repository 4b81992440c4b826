"""From scenarios to one figure of an arm: the mean of the scenarios' values, never of pooled attempts."""

from collections.abc import Iterable, Sequence
from math import fsum, sqrt
from typing import Literal

from .pass_at import pass_at_k, pass_hat_k, posterior_rate
from .tally import Tally

#: Which curve: pass@k (at least one of k passes) or pass^k (all k pass).
Kind = Literal["at", "hat"]


def scenario_values(tallies: Sequence[Tally], kind: Kind, k: int) -> list[float] | None:
    """pass@k or pass^k of each scenario, in order; None where there is no scenario or any of them is N/A at this k."""
    one = pass_at_k if kind == "at" else pass_hat_k
    values = [one(tally.valid, tally.passed, k) for tally in tallies]
    known = [value for value in values if value is not None]
    return known if known and len(known) == len(values) else None


def mean_pass_at(tallies: Sequence[Tally], k: int) -> float | None:
    """pass@k of an arm: the mean over all its scenarios of each scenario's pass@k.

    N/A (None) without scenarios, and where any scenario has fewer than k valid attempts: a mean over those that
    happen to have enough would be the figure of another suite.

    Raises:
        ValueError: for k below 1.
    """
    return _mean(scenario_values(tallies, "at", k))


def mean_pass_hat(tallies: Sequence[Tally], k: int) -> float | None:
    """pass^k of an arm: the mean over all its scenarios of each scenario's pass^k. N/A as in :func:`mean_pass_at`."""
    return _mean(scenario_values(tallies, "hat", k))


def common_k(arms: Iterable[Iterable[Tally]]) -> int:
    """The last k at which every arm shown has a value: the smallest count of valid attempts; 0 without any tally."""
    return min((tally.valid for arm in arms for tally in arm), default=0)


def posterior_mean(tallies: Sequence[Tally]) -> tuple[float, float] | None:
    """Mean and standard deviation of an arm's pass rate with a Beta(1,1) prior on each scenario; None without any.

    Source: Hariri et al. 2025, "Don't Pass@k", arXiv 2510.04265 (Bayes@N for two outcomes).
    """
    if not tallies:
        return None
    posteriors = [posterior_rate(tally) for tally in tallies]
    count = len(posteriors)
    return fsum(mean for mean, _ in posteriors) / count, sqrt(fsum(sd * sd for _, sd in posteriors)) / count


def _mean(values: list[float] | None) -> float | None:
    return None if values is None else fsum(values) / len(values)
