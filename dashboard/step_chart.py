"""How many tool calls attempts made: one histogram for each arm, over one common axis."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import count
from dashboard.plain_text import label

_BARS = 40
"""Most bars of one histogram: beyond it steps are put together."""


def step_charts(comparison: Comparison) -> None:
    """Histograms one below the other, so that they can be compared along the axis."""
    known = [arm for arm in comparison.arms if _steps(arm)]
    if not known:
        st.caption("No valid attempt yet.")
        return
    most = max(steps for arm in known for steps, _ in _steps(arm))
    width = max(1, -(-(most + 1) // _BARS))
    for arm in known:
        last = arm is known[-1]
        st.markdown(f"**{arm.letter}** {label(arm.name)}{_spread(arm)}")
        st.altair_chart(_chart(arm, most, width, last), alt=f"Tool calls per attempt, {arm.letter}")
    binned = f" in steps of {width}" if width > 1 else ""
    st.caption(f"Valid attempts by tool calls{binned}: solid passed, pale did not pass; the line is the median.")


def _steps(arm: ComparedArm) -> list[tuple[int, bool]]:
    return [(fact.tool_calls, fact.passed) for fact in arm.facts if fact.valid and fact.tool_calls is not None]


def _spread(arm: ComparedArm) -> str:
    found = arm.report.steps
    return f": median {count(found.median)}, p90 {count(found.p90)}, max {count(found.max)}" if found else ""


def _chart(arm: ComparedArm, most: int, width: int, last: bool) -> Any:
    rows = _bars(arm, width)
    x = alt.X("from:Q", scale=alt.Scale(domain=[-0.5, most + width - 0.5], nice=False))
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(color=arm.colour, stroke="white", strokeWidth=1)
        .encode(
            x=x.title("tool calls per attempt" if last else None).axis(format="d", grid=False, tickMinStep=1),
            x2="to:Q",
            y=alt.Y("low:Q", title="attempts", scale=alt.Scale(domainMin=0, nice=True)).axis(
                tickCount=3, tickMinStep=1, format="d"
            ),
            y2="high:Q",
            opacity=alt.condition("datum.passed", alt.value(1.0), alt.value(0.35)),
            tooltip=["steps:N", "verdict:N", "attempts:Q"],
        )
    )
    layers: list[Any] = [bars]
    if arm.report.steps is not None:
        median = alt.Chart(alt.Data(values=[{"x": arm.report.steps.median}]))
        layers.append(median.mark_rule(color="#1F2937", strokeWidth=2, strokeDash=[4, 3]).encode(x="x:Q"))
    return alt.layer(*layers).properties(height=155 if last else 130)


def _bars(arm: ComparedArm, width: int) -> list[dict[str, Any]]:
    """Passed attempts at the bottom, the others on top of them."""
    counted = Counter((steps // width * width, not passed) for steps, passed in _steps(arm))
    tops: Counter[int] = Counter()
    rows: list[dict[str, Any]] = []
    for (start, missed), number in sorted(counted.items()):
        rows.append(
            {
                "from": start - 0.5,
                "to": start + width - 0.5,
                "low": tops[start],
                "high": tops[start] + number,
                "passed": not missed,
                "attempts": number,
                "verdict": "did not pass" if missed else "passed",
                "steps": str(start) if width == 1 else f"{start}–{start + width - 1}",
            }
        )
        tops[start] += number
    return rows
