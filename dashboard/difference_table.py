"""Each arm against the first one, paired by scenario: is it better, and can that be believed?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.data_table import data_table
from dashboard.number_text import NONE
from passgrid.statistics import PairedDifference, holm, paired_difference


def difference_table(comparison: Comparison) -> None:
    """Differences of pass@1; nothing with fewer than two arms that may be shown."""
    shown = [arm for arm in comparison.arms if not arm.withheld]
    if len(shown) < 2:
        return
    baseline, others = shown[0], shown[1:]
    found = [_difference(baseline, arm) for arm in others]
    adjusted = holm([one.p_value for one in found])
    st.subheader(f"Against {baseline.letter}")
    rows = [_row(arm, one, p) for arm, one, p in zip(others, found, adjusted, strict=True)]
    data_table(rows, "Differences to the first arm", left=["arm"])
    st.caption(
        f"pass@1 minus that of {baseline.letter}, paired over the scenarios both have; the interval is of 95 %, p is "
        "two-sided (sign flips), adjusted by Holm over the arms shown."
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _cached(baseline: dict[str, float | None], candidate: dict[str, float | None]) -> PairedDifference:
    return paired_difference(baseline, candidate)


def _difference(baseline: ComparedArm, candidate: ComparedArm) -> PairedDifference:
    return _cached(_rates(baseline), _rates(candidate))


def _rates(arm: ComparedArm) -> dict[str, float | None]:
    return {
        f"{one.suite}/{one.scenario}": one.passed / one.valid if one.valid else None for one in arm.report.scenarios
    }


def _row(arm: ComparedArm, found: PairedDifference, p: float | None) -> dict[str, Any]:
    interval = found.interval
    return {
        "arm": arm.title,
        "difference": NONE if found.mean is None else f"{found.mean:+.3f}".replace("-", "−"),
        "95 %": NONE if interval is None else f"{interval.low:+.2f} to {interval.high:+.2f}".replace("-", "−"),
        "verdict": _verdict(found, p),
        "p": NONE if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
        "scenarios": str(len(found.scenarios)),
        "better / worse / equal": f"{found.wins} / {found.losses} / {found.ties}",
    }


def _verdict(found: PairedDifference, p: float | None) -> str:
    """Interval and adjusted p both have to say it."""
    if found.interval is None or p is None:
        return "not to be said"
    if p < 0.05 and found.interval.low > 0:
        return "better"
    return "worse" if p < 0.05 and found.interval.high < 0 else "no difference shown"
