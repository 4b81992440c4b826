"""How many tool calls attempts made: one histogram for each arm, over one common axis."""

from __future__ import annotations

from collections import Counter
from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import count

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
        st.altair_chart(_chart(arm, most, width, last), alt=f"Tool calls per attempt, {arm.letter}")
    binned = f" in steps of {width}" if width > 1 else ""
    st.caption(f"Valid attempts by tool calls{binned}: solid passed, pale did not pass; the line is the median.")


def _steps(arm: ComparedArm) -> list[tuple[int, bool]]:
    return [(fact.tool_calls, fact.passed) for fact in arm.facts if fact.valid and fact.tool_calls is not None]


def _chart(arm: ComparedArm, most: int, width: int, last: bool) -> Any:
    counted = Counter((steps // width * width, passed) for steps, passed in _steps(arm))
    rows = [
        {
            "from": start,
            "to": start + width,
            "attempts": number,
            "verdict": "passed" if passed else "did not pass",
            "order": 0 if passed else 1,
            "steps": str(start) if width == 1 else f"{start}–{start + width - 1}",
        }
        for (start, passed), number in sorted(counted.items())
    ]
    scale = alt.Scale(domain=[0, most + width], nice=False)
    x = alt.X("from:Q", scale=scale, title="tool calls per attempt" if last else None).axis(
        format="d", grid=False, tickMinStep=1
    )
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=arm.colour, binSpacing=1)
        .encode(
            x=x,
            x2="to:Q",
            y=alt.Y("attempts:Q", stack="zero", title="attempts").axis(tickCount=4, tickMinStep=1),
            opacity=alt.Opacity(
                "verdict:N", scale=alt.Scale(domain=["passed", "did not pass"], range=[1.0, 0.3]), legend=None
            ),
            order="order:Q",
            tooltip=["steps:N", "verdict:N", "attempts:Q"],
        )
    )
    layers: list[Any] = [bars]
    if arm.report.steps is not None:
        median = alt.Chart(alt.Data(values=[{"x": arm.report.steps.median + width / 2}]))
        layers.append(median.mark_rule(color="#1F2937", strokeWidth=2, strokeDash=[4, 3]).encode(x="x:Q"))
    spread = arm.report.steps
    said = f"median {count(spread.median)}, p90 {count(spread.p90)}, max {count(spread.max)}" if spread else ""
    title = alt.TitleParams(arm.title, subtitle=said, anchor="start", fontSize=13, limit=320)
    return alt.layer(*layers).properties(height=110 if last else 95, title=title)
