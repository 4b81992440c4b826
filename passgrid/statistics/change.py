"""What attempts use, in two arms paired by scenario: numbers without an upper end, such as steps or dollars."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, isfinite

from .distributions import UPPER_TAIL, t_quantile
from .intervals import FEW_SCENARIOS
from .resampling import bootstrap, sign_flip
from .standard_error import standard_error


@dataclass(frozen=True, slots=True)
class PairedChange:
    """candidate - baseline over the scenarios that both have a number for; N/A (None) where there is no such."""

    #: The scenarios compared, sorted.
    scenarios: tuple[str, ...]
    #: Mean over them of the baseline.
    baseline: float | None
    #: Mean over them of the candidate.
    candidate: float | None
    #: candidate - baseline.
    mean: float | None
    #: The 95 % interval of mean; N/A below two scenarios, and where all differences are one and the same: their zero
    #: spread is no certainty.
    interval: tuple[float, float] | None
    #: Two-sided sign-flip p of no difference.
    p_value: float | None
    #: No scenario differs.
    unchanged: bool

    @property
    def relative(self) -> float | None:
        """mean / baseline: 0.1 is ten percent more. N/A where the baseline is 0."""
        return self.mean / self.baseline if self.mean is not None and self.baseline else None


def paired_change(
    baseline: Mapping[str, float | None], candidate: Mapping[str, float | None], *, seed: int = 0
) -> PairedChange:
    """How much more the candidate uses, scenario by scenario.

    The interval is t with G - 1 degrees under 30 scenarios, else the bootstrap over scenarios.

    Args:
        baseline: a number for each scenario (the mean over its attempts); None is unknown, and not compared.
        candidate: the same of the other arm.
        seed: of the bootstrap and the sign flips.

    Raises:
        ValueError: for a number that is infinite or NaN.

    Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640 (paired standard error).
    """
    names = tuple(sorted(baseline.keys() & candidate.keys()))
    pairs = [(name, baseline[name], candidate[name]) for name in names]
    known = [(name, before, after) for name, before, after in pairs if before is not None and after is not None]
    for name, before, after in known:
        if not (isfinite(before) and isfinite(after)):
            raise ValueError(f"scenario {name!r}: a number to compare is finite")
    differences = [after - before for _, before, after in known]
    count = len(known)
    return PairedChange(
        scenarios=tuple(name for name, _, _ in known),
        baseline=fsum(before for _, before, _ in known) / count if count else None,
        candidate=fsum(after for _, _, after in known) / count if count else None,
        mean=fsum(differences) / count if count else None,
        interval=_interval(differences, seed),
        p_value=sign_flip(differences, seed=seed)[0] if count else None,
        unchanged=count > 0 and not any(differences),
    )


def _interval(differences: list[float], seed: int) -> tuple[float, float] | None:
    error = standard_error(differences)
    if not error:
        return None
    count = len(differences)
    mean = fsum(differences) / count
    if count >= FEW_SCENARIOS:
        ((low, high),) = bootstrap([differences], seed=seed)
        return min(low, mean), max(high, mean)
    half = t_quantile(UPPER_TAIL, count - 1) * error
    return mean - half, mean + half
