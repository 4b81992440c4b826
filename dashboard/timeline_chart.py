"""The calls of one attempt on a time axis: one lane for each tool, model turns in a lane of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import streamlit as st

from dashboard.number_text import count, milliseconds, size
from dashboard.palette import DOMINANT, ERROR, MODEL, OTHER
from dashboard.plain_text import label, one_line
from passgrid.warehouse.analysis.store import ModelCallRow, ToolCallRow

_LANE = 30
_MARK = 3
"""Pixels of the mark at the start of every call: however short, it can be seen."""
_KINDS = {"model turn": MODEL, "most called": DOMINANT, "other tool": OTHER, "tool call": OTHER, "tool error": ERROR}


def timeline(tools: Sequence[ToolCallRow], turns: Sequence[ModelCallRow]) -> None:
    """The chart, and how to read it."""
    st.subheader("Timeline")
    if not tools and not turns:
        st.caption("No call was recorded.")
        return
    calls = Counter(call.tool for call in tools)
    if calls:
        tool, most = calls.most_common(1)[0]
        said = "1 call" if most == 1 else f"{count(most)} of {count(len(tools))} calls"
        st.markdown(
            f"Most called: **{label(tool, 80)}**, {most}/{len(tools)} ({said})"
            if most > 1
            else f"{count(len(tools))} tool calls, none repeated"
        )
    if not turns and all(not call.started_ms and call.duration_ms is None for call in tools):
        _by_number(tools, calls)
        return
    first, last = _span(tools, turns)
    st.altair_chart(
        _chart(_rows(tools, turns, first), _lanes(calls, bool(turns)), last - first), alt="Timeline of calls"
    )
    after = f", {milliseconds(first)} after the attempt began" if first >= 1 else ""
    st.caption(
        f"Starts at the first call{after}. Bars are as long as the calls took; a mark shows where each began. The "
        "tooltip has the exact time, arguments and answer."
    )


def _by_number(tools: Sequence[ToolCallRow], calls: Counter[str]) -> None:
    """Where the source tells no times: calls in their order."""
    placed = [replace(call, started_ms=float(call.seq + 1)) for call in tools]
    rows = [row | {"took": "not known"} for row in _rows(placed, [], 0.0)]
    chart = _chart(rows, _lanes(calls, False), len(tools) + 1.0, title="number of the call")
    st.altair_chart(chart, alt="Calls in their order")
    st.caption("In the order of the calls: when each was made, and how long it took, is not known.")


def _span(tools: Sequence[ToolCallRow], turns: Sequence[ModelCallRow]) -> tuple[float, float]:
    every = [(call.started_ms, call.duration_ms or 0.0) for call in (*tools, *turns)]
    first = min(start for start, _ in every)
    return first, max(first + 0.001, *(start + duration for start, duration in every))


def _lanes(calls: Counter[str], with_model: bool) -> list[str]:
    """The model first, then tools by number of calls; each with its n of all."""
    total = calls.total()
    tools = [_lane(tool, number, total) for tool, number in calls.most_common()]
    return [*(["model"] if with_model else []), *tools]


def _lane(tool: str, number: int, total: int) -> str:
    return f"{number}/{total}  {one_line(tool, 60)}"


def _rows(tools: Sequence[ToolCallRow], turns: Sequence[ModelCallRow], first: float) -> list[dict[str, Any]]:
    calls = Counter(call.tool for call in tools)
    dominant = _most_called(calls)
    rows = [_turn_row(turn, first) for turn in turns]
    for call in tools:
        duration = "never came back" if call.duration_ms is None else milliseconds(call.duration_ms)
        rows.append(
            {
                **_bar(call.started_ms - first, call.duration_ms),
                "lane": _lane(call.tool, calls[call.tool], len(tools)),
                "kind": _kind(call, dominant),
                "call": f"#{call.seq + 1} {one_line(call.tool, 60)}, {_asked_for(call)}",
                "took": duration,
                "arguments": one_line(call.arguments, 400),
                "answer": one_line(f"{call.answered}, {size(call.result_bytes)}"),
                "error": one_line(call.error_text or "", 300) if call.error else "none",
            }
        )
    return rows


def _most_called(calls: Counter[str]) -> str | None:
    """The tool that was called most; None where no call is repeated."""
    tool, most = calls.most_common(1)[0] if calls else ("", 0)
    return tool if most > 1 else None


def _kind(call: ToolCallRow, dominant: str | None) -> str:
    if call.error:
        return "tool error"
    if dominant is None:
        return "tool call"
    return "most called" if call.tool == dominant else "other tool"


def _asked_for(call: ToolCallRow) -> str:
    return f"asked for in turn {call.turn}" if call.turn else "asked for by no model turn"


def _turn_row(turn: ModelCallRow, first: float) -> dict[str, Any]:
    tokens = (
        "tokens unknown"
        if turn.input_tokens is None
        else f"{count(turn.input_tokens)} in, {count(turn.output_tokens)} out"
    )
    return {
        **_bar(turn.started_ms - first, turn.duration_ms),
        "lane": "model",
        "kind": "model turn",
        "call": f"turn {turn.turn}" + (f", {one_line(turn.served_model, 60)}" if turn.served_model else ""),
        "took": milliseconds(turn.duration_ms),
        "arguments": tokens,
        "answer": one_line(turn.answered),
        "error": "none",
    }


def _bar(start: float, duration: float | None) -> dict[str, float]:
    return {"start": start, "end": start + (duration or 0.0)}


def _chart(rows: list[dict[str, Any]], lanes: list[str], span: float, title: str = "") -> Any:
    """Seconds where the whole takes some, else milliseconds, unless the axis is called otherwise."""
    unit, factor = ("s", 1000.0) if span >= 10_000 and not title else ("ms", 1.0)
    for row in rows:
        row["start"], row["end"] = row["start"] / factor, row["end"] / factor
    used = {row["kind"] for row in rows}
    kinds = [kind for kind in _KINDS if kind in used]
    colours = [_KINDS[kind] for kind in kinds]
    legend = alt.Legend(
        title=None, orient="top", columns=2, labelLimit=160, labelFontSize=11, symbolOpacity=1, symbolType="square"
    )
    tooltip = [alt.Tooltip(name, type="nominal") for name in ("call", "took", "arguments", "answer", "error")]
    x = alt.X("start:Q", title=title or f"{unit} from the first call", scale=_axis(span / factor))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x.axis(grid=True, tickCount=6),
        y=alt.Y("lane:N", sort=lanes, title=None, scale=alt.Scale(domain=lanes)).axis(
            labelLimit=155, labelFlush=False, grid=True, domain=False, ticks=False, tickBand="extent"
        ),
        color=alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), legend=legend),
        tooltip=tooltip,
    )
    bars = base.mark_bar(height=14, opacity=0.55).encode(x2="end:Q")
    marks = base.mark_tick(thickness=_MARK, size=18, opacity=1)
    return alt.layer(bars, marks).properties(height=alt.Step(_LANE))


def _axis(span: float) -> alt.Scale:
    """With some room at both ends, so that no mark is cut."""
    return alt.Scale(domain=[-0.012 * span, 1.012 * span], nice=False)
