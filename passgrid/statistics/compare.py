"""Two arms, paired by scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from .distributions import UPPER_TAIL, t_quantile
from .intervals import FEW_SCENARIOS, Interval, posterior_bound
from .resampling import bootstrap, sign_flip
from .standard_error import standard_error

#: Values closer than this are a tie: they differ by rounding only.
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """candidate - baseline over the scenarios that both have a value for; all N/A (None) where there is no such."""

    #: The scenarios compared, sorted: the intersection.
    scenarios: tuple[str, ...]
    #: Scenarios of the candidate without a value in the baseline, and so not compared.
    missing_in_baseline: tuple[str, ...]
    #: Scenarios of the baseline without a value in the candidate, and so not compared.
    missing_in_candidate: tuple[str, ...]
    #: Mean of the scenarios' differences.
    mean: float | None
    #: Its paired standard error; N/A below two scenarios.
    se: float | None
    #: Its 95 % interval, within [-1, 1]; N/A below two scenarios.
    interval: Interval | None
    #: Two-sided sign-flip p of no difference.
    p_value: float | None
    #: p counts all sign flips (True) or seeded draws (False).
    p_exact: bool
    #: Scenarios in which the candidate is better.
    wins: int
    #: Scenarios in which it is worse.
    losses: int
    #: Scenarios in which both are equal.
    ties: int


def paired_difference(
    baseline: Mapping[str, float | None],
    candidate: Mapping[str, float | None],
    *,
    seed: int = 0,
    trials: int | None = None,
) -> PairedDifference:
    """How much better the candidate is, scenario by scenario.

    Scenario difficulty is common to both arms, and pairing takes it out. The interval is t with G - 1 degrees under
    30 scenarios, else the bootstrap over scenarios. Where all differences are one and the same, their zero spread is
    no certainty: of Beta(1,1) updated by so many trials without an exception, up to a share q may be exceptions, and
    those may lie anywhere in [-1, 1].

    Args:
        baseline: a value in [0, 1] for each scenario (a pass rate, pass@k, a stage's rate); None is N/A.
        candidate: the same of the other arm.
        seed: of the bootstrap and the sign flips.
        trials: independent observations behind differences that are all alike; the number of scenarios by default.

    Raises:
        ValueError: for a value outside [0, 1], NaN included, or trials below 1.

    Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640 (paired standard error).
    """
    before, after = _known(baseline), _known(candidate)
    shared = tuple(sorted(before.keys() & after.keys()))
    everything = baseline.keys() | candidate.keys()
    differences = [after[name] - before[name] for name in shared]
    differences = [0.0 if abs(difference) < _TIE else difference for difference in differences]
    p_value, p_exact = sign_flip(differences, seed=seed) if differences else (None, False)
    return PairedDifference(
        scenarios=shared,
        missing_in_baseline=tuple(sorted(everything - before.keys())),
        missing_in_candidate=tuple(sorted(everything - after.keys())),
        mean=fsum(differences) / len(differences) if differences else None,
        se=standard_error(differences),
        interval=_interval(differences, seed, len(differences) if trials is None else trials),
        p_value=p_value,
        p_exact=p_exact,
        wins=sum(difference > 0 for difference in differences),
        losses=sum(difference < 0 for difference in differences),
        ties=sum(difference == 0 for difference in differences),
    )


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    known = {name: value for name, value in values.items() if value is not None}
    for name, value in known.items():
        if not 0 <= value <= 1:
            raise ValueError(f"scenario {name!r}: a value to compare lies in [0, 1], not {value}")
    return known


def _interval(differences: Sequence[float], seed: int, trials: int) -> Interval | None:
    count, error = len(differences), standard_error(differences)
    if error is None:
        return None
    if trials < 1:
        raise ValueError(f"need trials >= 1, got {trials}")
    mean = fsum(differences) / count
    if max(differences) - min(differences) < _TIE:
        exceptions = posterior_bound(trials)
        rest = (1 - exceptions) * mean
        return Interval(rest - exceptions, rest + exceptions, "posterior")
    if count >= FEW_SCENARIOS:
        ((low, high),) = bootstrap([differences], seed=seed)
        return Interval(min(low, mean), max(high, mean), "bootstrap")
    half = t_quantile(UPPER_TAIL, count - 1) * error
    return Interval(max(-1.0, mean - half), min(1.0, mean + half), "t")
