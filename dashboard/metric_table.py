"""One row for each arm with all its numbers; what is unknown is a dash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.data_table import data_table
from dashboard.number_text import NONE, between, compact, count, dollars, rate, seconds, series, share
from passgrid.report.distribution import Distribution
from passgrid.statistics import Curve


def metric_table(comparison: Comparison) -> None:
    """The table."""
    rows = [_row(arm, comparison.most_k) for arm in comparison.arms]
    data_table(rows, "Numbers of each arm", left=["arm"])
    st.caption(
        "n counts valid attempts; coverage is n of what was wanted. Steps, time and tokens of valid "
        "attempts: median / 90th percentile / maximum. Wasted calls ended in an error. A dash is unknown, never 0."
    )


def _row(arm: ComparedArm, most_k: int) -> dict[str, Any]:
    said = arm.report
    return {
        "arm": arm.title,
        "n": count(said.coverage.valid),
        "passed": count(said.passed),
        "coverage": share(said.coverage.share),
        "pass@1 (95 %)": _withheld(arm) if arm.withheld else _point(said.pass_at, 1),
        f"pass^{most_k} (95 %)": NONE if arm.withheld or not most_k else _point(said.pass_hat, most_k),
        "tool calls": count(said.tool_calls),
        "steps": _spread(said.steps, count),
        "wasted": count(said.wasted_calls),
        "cost": dollars(said.cost_usd),
        "tokens": _spread(said.tokens, compact),
        "time": _spread(said.duration_s, seconds),
        "turns": count(said.model_turns),
    }


def _withheld(arm: ComparedArm) -> str:
    return f"withheld ({between(arm.report.coverage.low, arm.report.coverage.high)})"


def _point(curve: Curve, k: int) -> str:
    for point in curve.points:
        if point.k == k:
            return f"{rate(point.value)} ({between(point.low, point.high)})"
    return NONE


def _spread(found: Distribution | None, written: Callable[[float], str]) -> str:
    return NONE if found is None else series([written(value) for value in (found.median, found.p90, found.max)])
