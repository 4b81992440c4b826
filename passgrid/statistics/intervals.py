"""95 % intervals of an arm's figures, over its scenarios.

Which method answers when is decided here and nowhere else:

=====================================  ==========================================================================
all scenarios at 0, or all at 1        posterior: Beta(1,1) updated by one trial a scenario. The spread is zero, so
                                       bootstrap and t would claim certainty
pass@1 (pass^1 is the same)            Wilson on the effective number of attempts
under 30 scenarios                     t with G - 1 degrees of freedom
30 scenarios and more                  bootstrap over scenarios, 10,000 seeded draws
all scenarios at one other value       Wilson with one trial a scenario: no spread seen, so the widest is assumed
one scenario only                      about that scenario, over its attempts: Wilson at k = 1, else its posterior
=====================================  ==========================================================================

Every interval is clamped to [0, 1] and holds the value it belongs to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, fsum, log, sqrt
from typing import Literal

from .aggregate import Kind
from .distributions import UPPER_TAIL, beta_quantile, normal_quantile, t_quantile
from .pass_at import pass_at_k, pass_hat_k
from .resampling import bootstrap
from .standard_error import standard_error
from .tally import Tally

#: How an interval was made.
Method = Literal["bootstrap", "t", "posterior", "wilson"]

#: What an interval speaks about: the population the scenarios were drawn from, or one scenario's own attempts.
Over = Literal["scenarios", "attempts"]

#: Below so many scenarios the t distribution answers instead of the bootstrap, and pass@1 counts scenarios.
FEW_SCENARIOS = 30

#: Outside of these rates pass@1 counts scenarios, however many there are.
_MIDDLE = (0.1, 0.9)


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval and how it was made; ``posterior`` and ``wilson`` are to be named beside the figure."""

    #: Lower end, in the unit of the figure.
    low: float
    #: Upper end.
    high: float
    #: What made it.
    method: Method
    #: What was taken as the sample.
    over: Over = "scenarios"


def wilson(passed: float, n: float, quantile: float | None = None) -> tuple[float, float] | None:
    """The score interval of one proportion, clamped to [0, 1]; None for n = 0.

    Args:
        passed: successes, 0..n; need not be whole (an effective count).
        n: trials.
        quantile: of the standard normal by default (1.96); a t quantile widens it for few scenarios.

    Raises:
        ValueError: unless 0 <= passed <= n.

    Source: Wilson 1927; Brown, Cai and DasGupta 2001, "Interval Estimation for a Binomial Proportion".
    """
    if not 0 <= passed <= n:
        raise ValueError(f"need 0 <= passed <= n, got passed={passed}, n={n}")
    if n == 0:
        return None
    z = normal_quantile(UPPER_TAIL) if quantile is None else quantile
    rate = passed / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (0.0 if passed == 0 else max(0.0, centre - half)), (1.0 if passed == n else min(1.0, centre + half))


def posterior_bound(trials: float) -> float:
    """How common something never seen in so many trials may be: the 97.5 % quantile of Beta(1, 1 + trials)."""
    return -expm1(log(1 - UPPER_TAIL) / (trials + 1))


def pass_at_1_interval(tallies: Sequence[Tally]) -> Interval | None:
    """Of the mean pass rate over scenarios: Wilson on n_eff = m(1-m) / se^2, with the t quantile of G - 1 degrees.

    n_eff says how many independent attempts would be as informative; it is clamped to 1..n attempts, and to at most
    the number of scenarios where those are under 30 or the mean is outside of 10-90 %, since then se itself is not
    to be trusted. None where pass@1 is N/A: without scenarios, or where one has no valid attempt.

    Source: effective sample size as in Korn and Graubard 1998 (Survey Methodology 24), with Wilson's interval in
    place of Clopper and Pearson's; the caps are simulated in ``benchmarks/statistics.py``.
    """
    if not tallies or any(tally.valid == 0 for tally in tallies):
        return None
    if len(tallies) == 1:
        return scenario_interval(tallies[0], "at", 1)
    rates = [tally.passed / tally.valid for tally in tallies]
    at_an_end = _interval_at_an_end(rates)
    if at_an_end is not None:
        return at_an_end
    scenarios, mean = len(rates), fsum(rates) / len(rates)
    error = standard_error(rates)
    cap = sum(tally.valid for tally in tallies)
    if scenarios < FEW_SCENARIOS or not _MIDDLE[0] <= mean <= _MIDDLE[1]:
        cap = scenarios
    effective = min(max(mean * (1 - mean) / error**2, 1.0), cap) if error else cap
    return _wilson_interval(mean, effective, scenarios)


def mean_intervals(columns: Sequence[Sequence[float]], *, seed: int) -> list[Interval]:
    """Of the means of several columns (say, one a k), each over the same two or more scenarios' values in [0, 1].

    Raises:
        ValueError: for fewer than two scenarios, whose spread is not known, or for columns of different lengths.
    """
    if any(len(column) < 2 or len(column) != len(columns[0]) for column in columns):
        raise ValueError("every column needs one value for each of the same two or more scenarios")
    known = [_interval_without_drawing(column) for column in columns]
    to_draw = [column for column, interval in zip(columns, known, strict=True) if interval is None]
    drawn = iter(bootstrap(to_draw, seed=seed))
    return [
        interval or _holding(fsum(column) / len(column), *next(drawn), "bootstrap")
        for column, interval in zip(columns, known, strict=True)
    ]


def scenario_interval(tally: Tally, kind: Kind, k: int) -> Interval | None:
    """Of pass@k or pass^k of one scenario, over its own attempts; None without valid attempts.

    At k = 1 with passes and failures it is Wilson's, else the equal-tailed posterior interval of the pass rate under
    Beta(1,1), carried over to k (both are monotone in the rate) and stretched to hold the unbiased value.
    """
    n, c = tally.valid, tally.passed
    value = (pass_at_k if kind == "at" else pass_hat_k)(n, c, k)
    if value is None:
        return None
    if k == 1 and 0 < c < n:
        ends = wilson(c, n)
        assert ends is not None  # n > 0
        return _holding(value, *ends, "wilson", "attempts")
    low, high = (beta_quantile(p, 1 + c, 1 + n - c) for p in (1 - UPPER_TAIL, UPPER_TAIL))
    if kind == "at":
        return _holding(value, 1 - (1 - low) ** k, 1 - (1 - high) ** k, "posterior", "attempts")
    return _holding(value, low**k, high**k, "posterior", "attempts")


def _interval_without_drawing(values: Sequence[float]) -> Interval | None:
    at_an_end = _interval_at_an_end(values)
    if at_an_end is not None:
        return at_an_end
    scenarios, mean = len(values), fsum(values) / len(values)
    if max(values) == min(values):
        return _wilson_interval(mean, scenarios, scenarios)
    if scenarios >= FEW_SCENARIOS:
        return None
    error = standard_error(values)
    assert error is not None  # at least two values
    half = t_quantile(UPPER_TAIL, scenarios - 1) * error
    return _holding(mean, mean - half, mean + half, "t")


def _interval_at_an_end(values: Sequence[float]) -> Interval | None:
    if all(value == 0 for value in values):
        return Interval(0.0, posterior_bound(len(values)), "posterior")
    if all(value == 1 for value in values):
        return Interval(1 - posterior_bound(len(values)), 1.0, "posterior")
    return None


def _wilson_interval(mean: float, trials: float, scenarios: int) -> Interval:
    ends = wilson(mean * trials, trials, t_quantile(UPPER_TAIL, scenarios - 1))
    assert ends is not None  # at least one trial
    return _holding(mean, *ends, "wilson")


def _holding(value: float, low: float, high: float, method: Method, over: Over = "scenarios") -> Interval:
    """Clamped to [0, 1], and never without its value (by rounding, or where an unbiased value lies at an end)."""
    return Interval(max(0.0, min(low, value)), min(1.0, max(high, value)), method, over)
