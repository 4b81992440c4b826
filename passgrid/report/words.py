"""Figures and verdicts as people read them: the same words in the terminal, in pull requests and on pages."""

from __future__ import annotations

from collections.abc import Sequence

from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison
from passgrid.statistics import Advice, Coverage, PairedChange, PairedDifference

NA = "N/A"
UNKNOWN = "unknown"
SHOWN_NAMES = 5
MEASURE_NAMES = {"steps": "steps", "duration_s": "duration", "tokens": "tokens", "cost_usd": "cost"}
WITHHELD = "Coverage below 95 %: pass rates are withheld, only their bounds are shown."


def percent(share: float | None) -> str:
    """A share of one; below 100 it is never rounded up to it."""
    if share is None:
        return NA
    return "99.9 %" if 0.999 < share < 1 else f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def headline(arm: ArmReport) -> str:
    """How many of the valid attempts passed, and coverage; below 95 % of it no rate, only its bounds.

    `1 of 1 valid, coverage 25 %, 25–100 %`
    """
    found = arm.coverage
    if found.share is None or found.low is None or found.high is None:
        return "no attempt was wanted"
    text = f"{arm.passed} of {found.valid} valid, coverage {percent(found.share)}"
    if found.headline_withheld:
        return f"{text}, {bounds(found)}"
    return f"{text}, pass@1 {percent(found.rate)}"


def bounds(coverage: Coverage) -> str:
    """Between which pass rates the missing attempts leave it: `25–100 %`."""
    if coverage.low is None or coverage.high is None:
        return NA
    return f"{percent(coverage.low).removesuffix(' %')}–{percent(coverage.high)}"


def points(value: float) -> str:
    """A difference of proportions in points: +11, −3, or with one digit what is smaller than one."""
    scaled = value * 100
    text = f"{scaled:+.1f}" if 0 < abs(scaled) < 1 else f"{scaled:+.0f}"
    return text.replace("-", "−")


def p_text(p: float | None) -> str:
    """A p value."""
    return NA if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def verdict(difference: PairedDifference, candidate: str) -> str:
    """`B is better on 31, worse on 9 of 120 scenarios; +11 points, 95 % interval 3 to 19`."""
    count = len(difference.scenarios)
    if difference.mean is None:
        return f"{candidate} has no scenario in common with the baseline"
    text = f"{candidate} is better on {difference.wins}, worse on {difference.losses} of {count} scenario{_s(count)}"
    text += f"; {points(difference.mean)} points"
    if difference.interval is None:
        return f"{text}, without an interval: that needs two scenarios"
    low, high = (points(end).removeprefix("+") for end in (difference.interval.low, difference.interval.high))
    return f"{text}, 95 % interval {low} to {high}"


def comparison_text(pair: ArmComparison, baseline: str, candidate: str) -> str:
    """The verdict of two arms in one line; without numbers where too little was measured."""
    if pair.withheld:
        low = [
            f"{letter}: {headline(arm)}"
            for letter, arm in ((baseline, pair.baseline), (candidate, pair.candidate))
            if arm.coverage.headline_withheld
        ]
        return f"no difference is told, too little was measured ({'; '.join(low)})"
    same = ", from the same recordings to the same outcomes" if pair.same_attempts else ""
    return verdict(pair.difference, candidate) + same


def significance(pair: ArmComparison) -> str:
    """The p values of two arms, and what they allow to say."""
    if pair.withheld:
        return "nothing can be said"
    difference = pair.difference
    parts = [f"{pair.finding}", f"p {p_text(difference.p_value)} (sign flips{', exact' if difference.p_exact else ''})"]
    if pair.adjusted_p != difference.p_value:
        parts.append(f"{p_text(pair.adjusted_p)} by Holm")
    if pair.mcnemar_p is not None:
        parts.append(f"McNemar {p_text(pair.mcnemar_p)}")
    return ", ".join(parts)


def axes_text(pair: ArmComparison) -> str:
    """In what two arms differ."""
    if not pair.differing:
        return "the same model, prompt, target, fault, mitigation and agent"
    return "differs in " + ", ".join(f"{axis} ({before} → {after})" for axis, before, after in pair.differing)


def missing_text(pair: ArmComparison, baseline: str, candidate: str) -> list[str]:
    """Scenarios that could not be compared, named."""
    sides = (
        (baseline, pair.difference.missing_in_baseline),
        (candidate, pair.difference.missing_in_candidate),
    )
    return [f"without a valid attempt in {letter}: {names(missing)}" for letter, missing in sides if missing]


def names(found: Sequence[str]) -> str:
    """The first of many names, and how many there are besides."""
    rest = len(found) - SHOWN_NAMES
    return ", ".join(found[:SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def number(value: float, measure: str) -> str:
    """A number of one of the measures with its unit."""
    if measure == "cost_usd":
        return f"${value:,.4f}" if abs(value) < 1 else f"${value:,.2f}"
    if measure == "duration_s":
        return f"{value:,.3f} s" if abs(value) < 1 else f"{value:,.1f} s"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"


def change_text(change: PairedChange, measure: str) -> str:
    """`4.2 → 3.1 (−26 %, 95 % interval −40 to −12 %), p 0.003`."""
    if change.baseline is None or change.candidate is None:
        return UNKNOWN
    text = f"{number(change.baseline, measure)} → {number(change.candidate, measure)}"
    if change.unchanged:
        return f"{text} (the same in every scenario)"
    if change.relative is None:
        return text
    share = _signed(change.relative)
    if change.interval is not None and change.baseline:
        low, high = (_signed(end / change.baseline) for end in change.interval)
        share += f", 95 % interval {low.removesuffix(' %')} to {high}"
    return f"{text} ({share}), p {p_text(change.p_value)}".replace("-", "−")


def _signed(share: float) -> str:
    text = f"{share * 100:+.0f}"
    return f"{'0' if text in ('+0', '-0') else text} %"


def advice_text(advice: Advice) -> str:
    """What would settle it, in four of five times."""
    delta = f"{advice.delta * 100:g} points"
    now = f"{advice.scenarios} scenarios × {advice.attempts} attempt{_s(advice.attempts)}"
    if not advice.more_scenarios:
        return f"a difference of {delta} would be found with what there is ({now}) in four of five times"
    more = f"{advice.scenarios_needed:,} scenarios at {advice.attempts} attempt{_s(advice.attempts)} each"
    if advice.attempts_needed is None:
        return f"to find a difference of {delta}: {more}; no number of attempts is enough with {advice.scenarios}"
    attempts = f"{advice.attempts_needed:,} attempts of each of the {advice.scenarios} scenarios"
    return f"to find a difference of {delta} ({now} now): {more}, or {attempts}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
