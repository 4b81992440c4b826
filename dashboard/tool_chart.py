"""Each tool's share of the calls of an arm: calls that were answered, and those that ended in an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from dashboard.number_text import count, milliseconds, share
from dashboard.palette import WASTED
from dashboard.plain_text import one_line
from dashboard.tool_use import ArmTools
from passgrid.warehouse.analysis.tools import ToolRow

SHOWN = 15


def tool_chart(found: Sequence[ArmTools]) -> None:
    """One row a tool, in it one bar an arm; the most called tools of all arms together."""
    totals = Counter[str]()
    for one in found:
        for row in one.rows:
            totals[row.tool] += row.calls
    order = [tool for tool, calls in totals.most_common() if calls]
    if not order:
        st.caption("No call was recorded.")
        return
    st.altair_chart(_chart(found, order[:SHOWN]), alt="Share of calls by tool and arm")
    rest = f" The {SHOWN} most called of {count(len(order))} tools." if len(order) > SHOWN else ""
    st.caption(f"Of all calls of an arm, over all its attempts; the red end of a bar are calls in vain.{rest}")


def _chart(found: Sequence[ArmTools], order: Sequence[str]) -> Any:
    names = {tool: one_line(tool, 40) for tool in order}
    rows = [bar for one in found for bar in _bars(one, names)]
    letters = [one.arm.letter for one in found]
    kinds = [*letters, "in vain"]
    colours = [*(one.arm.colour for one in found), WASTED]
    legend = alt.Legend(title=None, orient="top", columns=4)
    most = max(row["end"] for row in rows)
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("tool:N", sort=list(names.values()), title=None, scale=alt.Scale(paddingInner=0.25)).axis(
            labelLimit=150, labelOverlap=False, domain=False, ticks=False
        ),
        yOffset=alt.YOffset("arm:N", sort=letters),
        tooltip=[
            alt.Tooltip(name, type="nominal")
            for name in ("called", "compared arm", "calls", "errors", "latency", "attempts")
        ],
    )
    x = alt.X("start:Q", title="share of the arm's calls", scale=alt.Scale(domain=[0, most * 1.22], nice=False))
    bars = base.mark_bar(opacity=0.85).encode(
        x=x.axis(format="%", tickCount=5),
        x2="end:Q",
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=legend),
    )
    texts = base.mark_text(align="left", dx=4, fontSize=11, color="#1F2937").encode(x="whole:Q", text="text:N")
    height = len(order) * (16 * len(found) + 10)
    return alt.layer(bars, texts.transform_filter("datum.text !== ''")).properties(height=height + 125)


def _bars(one: ArmTools, names: dict[str, str]) -> list[dict[str, Any]]:
    by_tool: dict[str, list[ToolRow]] = {}
    for row in one.rows:
        if row.tool in names and row.calls:
            by_tool.setdefault(row.tool, []).append(row)
    bars: list[dict[str, Any]] = []
    for tool, rows in by_tool.items():
        calls, errors = sum(row.calls for row in rows), sum(row.errors for row in rows)
        good, whole = (calls - errors) / one.calls, calls / one.calls
        told = {
            "tool": names[tool],
            "called": names[tool],
            "arm": one.arm.letter,
            "compared arm": one.arm.title,
            "calls": f"{count(calls)} of {count(one.calls)} ({share(whole)})",
            "errors": count(errors),
            "latency": " / ".join(f"{milliseconds(row.median_ms)}, p90 {milliseconds(row.p90_ms)}" for row in rows),
            "attempts": f"{count(sum(row.attempts for row in rows))} called it",
            "whole": whole,
        }
        bars.append({**told, "kind": one.arm.letter, "start": 0.0, "end": good, "text": f"{share(whole)}"})
        if errors:
            bars.append({**told, "kind": "in vain", "start": good, "end": whole, "text": ""})
    return bars
