"""How many scenarios and attempts it takes to tell two arms apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, fsum, inf, log1p

from .distributions import UPPER_TAIL, normal_quantile
from .tally import Tally

#: The chance of finding a difference that is there.
POWER = 0.80


@dataclass(frozen=True, slots=True)
class Advice:
    """What would find a difference of ``delta`` in four of five times."""

    #: The difference to be found, as a proportion.
    delta: float
    #: Scenarios in common now.
    scenarios: int
    #: Attempts of each now (the fewest of any scenario in either arm).
    attempts: int
    #: Scenarios needed at the attempts of now.
    scenarios_needed: int
    #: Attempts a scenario and arm needed with the scenarios of now; None where no number of attempts suffices.
    attempts_needed: int | None

    @property
    def more_scenarios(self) -> int:
        """Scenarios to add, attempts left as they are."""
        return max(0, self.scenarios_needed - self.scenarios)

    @property
    def more_attempts(self) -> int | None:
        """Attempts to add to each scenario and arm, scenarios left as they are; None where that cannot suffice."""
        return None if self.attempts_needed is None else max(0, self.attempts_needed - self.attempts)


def required_scenarios(
    delta: float, *, between: float, within_baseline: float, within_candidate: float, attempts: int
) -> float:
    """Scenarios for 80 % power at 5 %: (1.960 + .842)^2 (w^2 + s_A^2 / K + s_B^2 / K) / delta^2.

    Args:
        delta: the difference to be found, as a proportion.
        between: w^2, the variance over scenarios of the true difference.
        within_baseline: s_A^2, the mean over scenarios of the variance p(1-p) of one attempt.
        within_candidate: s_B^2, the same of the other arm.
        attempts: K, valid attempts a scenario in each arm.

    Returns:
        The number before rounding up, as in the source.

    Raises:
        ValueError: unless delta > 0, variances >= 0 and attempts >= 1.

    Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640 (power analysis).
    """
    if not (0 < delta < inf and min(between, within_baseline, within_candidate) >= 0 and attempts >= 1):
        raise ValueError("need delta > 0, variances >= 0 and attempts >= 1")
    variance = between + (within_baseline + within_candidate) / attempts
    return _quantiles() ** 2 * variance / delta**2


def advised_scenarios(
    delta: float, *, between: float, within_baseline: float, within_candidate: float, attempts: int
) -> int:
    """Whole scenarios to plan with: :func:`required_scenarios`, which counts on normal values, and three more.

    z^2 / 2, about two, for the t distribution of the gate (Guenther 1981, The American Statistician 35), and one
    because pass rates move in steps; ``benchmarks/statistics.py`` shows that 80 % power is then kept.
    """
    needed = required_scenarios(
        delta,
        between=between,
        within_baseline=within_baseline,
        within_candidate=within_candidate,
        attempts=attempts,
    )
    return ceil(needed + _extra())


def advise(baseline: Mapping[str, Tally], candidate: Mapping[str, Tally], delta: float) -> Advice | None:
    """What two arms measured so far need, to be told apart by their pass rates if they differ by delta.

    The variances are estimated from the scenarios in common: within a scenario unbiased from its attempts, or, where
    some scenario has only one or all attempts agree, as the mean of p(1-p) under the Beta(1,1) posterior; between
    scenarios as what the spread of the differences leaves over.

    Returns:
        None below two scenarios with valid attempts in both arms.

    Raises:
        ValueError: unless delta > 0.
    """
    names = [name for name in baseline.keys() & candidate.keys() if baseline[name].valid and candidate[name].valid]
    if len(names) < 2:
        return None
    pairs = [(baseline[name], candidate[name]) for name in sorted(names)]
    noise = [_attempt_variance([pair[arm] for pair in pairs]) for arm in (0, 1)]
    differences = [after.passed / after.valid - before.passed / before.valid for before, after in pairs]
    mean = fsum(differences) / len(pairs)
    seen = fsum((difference - mean) ** 2 for difference in differences) / (len(pairs) - 1)
    by_chance = fsum(noise[0] / before.valid + noise[1] / after.valid for before, after in pairs) / len(pairs)
    between = max(0.0, seen - by_chance)
    attempts = min(tally.valid for pair in pairs for tally in pair)
    needed = advised_scenarios(
        delta, between=between, within_baseline=noise[0], within_candidate=noise[1], attempts=attempts
    )
    affordable = (len(pairs) - _extra()) * delta**2 / _quantiles() ** 2 - between
    by_attempts = max(1, ceil(sum(noise) / affordable)) if affordable > 0 else None
    return Advice(delta, len(pairs), attempts, needed, by_attempts)


def attempts_to_see(rate: float) -> int:
    """Attempts until something that happens at this rate has been seen at least once, in 95 % of cases.

    The smallest n with (1 - rate)^n <= 5 %.

    Raises:
        ValueError: unless 0 < rate <= 1.
    """
    if not 0 < rate <= 1:
        raise ValueError(f"need 0 < rate <= 1, got {rate}")
    if rate == 1:
        return 1
    return max(1, ceil(log1p(-0.95) / log1p(-rate)))


def _attempt_variance(tallies: list[Tally]) -> float:
    """The mean over scenarios of p(1-p)."""
    if all(tally.valid > 1 for tally in tallies):
        unbiased = [t.passed * (t.valid - t.passed) / (t.valid * (t.valid - 1)) for t in tallies]
        if any(unbiased):
            return fsum(unbiased) / len(tallies)
    posterior = [
        (1 + t.passed) * (1 + t.valid - t.passed) / ((t.valid + 2) * (t.valid + 3)) for t in tallies
    ]  # E[p(1-p)] of Beta(a, b) is ab / ((a + b)(a + b + 1))
    return fsum(posterior) / len(tallies)


def _quantiles() -> float:
    return normal_quantile(UPPER_TAIL) + normal_quantile(POWER)


def _extra() -> float:
    return normal_quantile(UPPER_TAIL) ** 2 / 2 + 1
