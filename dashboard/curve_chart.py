"""pass@k and pass^k over k, one line for each arm, with 95 % intervals; points that rest on few are hollow."""

from __future__ import annotations

from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import between, rate
from passgrid.statistics import Curve

_HEIGHT = 320
_BESIDE = 0.012
"""How far arms stand beside each other, of the width of the chart: equal ones would hide each other."""
_TOOLTIP = ("compared arm", "point", "95 % interval", "n of a scenario", "rests on")


def curve_charts(comparison: Comparison) -> None:
    """Both charts side by side, one below the other where there is no room, and how to read them."""
    drawn = [arm for arm in comparison.arms if not arm.withheld and arm.report.pass_at.points]
    if not drawn:
        st.info("No curve can be drawn: every arm shown has too few valid attempts.")
        return
    left, right = st.columns(2)
    with left:
        st.markdown("At least one of k attempts passes")
        st.altair_chart(_chart(drawn, "at"), alt="pass@k over k by arm")
    with right:
        st.markdown("All k attempts pass")
        st.altair_chart(_chart(drawn, "hat"), alt="pass^k over k by arm")
    st.caption(_reading(comparison, drawn))


def _reading(comparison: Comparison, drawn: list[ComparedArm]) -> str:
    notes = ["Means over scenarios; bands are 95 % intervals over scenarios."]
    if any(point.sparse for arm in drawn for point in arm.report.pass_at.points):
        notes.append("Hollow points: some scenario has fewer than 2k valid attempts, read with care.")
    if len(drawn) > 1:
        notes.append("Arms stand a little beside each other, so that equal ones do not hide.")
        notes.append(f"Curves end at k = {comparison.most_k}, the smallest n of the arms shown.")
    if withheld := [arm.letter for arm in comparison.arms if arm.withheld]:
        notes.append(f"Not drawn, coverage below 95 %: {', '.join(withheld)}.")
    return " ".join(notes)


def _chart(arms: list[ComparedArm], kind: str) -> Any:
    curves = [arm.report.pass_at if kind == "at" else arm.report.pass_hat for arm in arms]
    rows = [row for arm, curve in zip(arms, curves, strict=True) for row in _rows(arm, curve)]
    ks = sorted({row["k"] for row in rows})
    sign = "@" if kind == "at" else "^"
    padding = 0.25 if len(ks) < 8 else 0.5
    first, last = ks[0] - padding, ks[-1] + padding
    _set_beside(rows, [arm.letter for arm in arms], last - first)
    x = alt.X("x:Q", title="k (attempts drawn)", scale=alt.Scale(domain=[first, last], nice=False))
    x = x.axis(values=ks if len(ks) <= 12 else alt.Undefined, format="d", grid=False)
    y = alt.Y("value:Q", title=f"pass{sign}k", scale=alt.Scale(domain=[0, 1], nice=False))
    y = y.axis(format=".2f", values=[0, 0.25, 0.5, 0.75, 1], labelOverlap=False)
    letters = [arm.letter for arm in arms]
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1, symbolStrokeWidth=2) if len(arms) > 1 else None
    colour = alt.Color("arm:N", scale=alt.Scale(domain=letters, range=[arm.colour for arm in arms]), legend=legend)
    shape = alt.Shape("arm:N", scale=alt.Scale(domain=letters, range=[arm.shape for arm in arms]), legend=legend)
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, color=colour)
    interval = base.mark_area(opacity=0.12) if len(ks) > 1 else base.mark_rule(strokeWidth=6, opacity=0.25)
    band = interval.encode(y=alt.Y("low:Q"), y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=y)
    tooltip = [alt.Tooltip(name, type="nominal") for name in _TOOLTIP]
    points = base.mark_point(size=75, strokeWidth=2, opacity=1, fill="white").encode(y=y, shape=shape, tooltip=tooltip)
    solid = base.mark_point(size=75, strokeWidth=2, opacity=1, filled=True).encode(y=y, shape=shape, tooltip=tooltip)
    layers = [band, line, points, solid.transform_filter("!datum.sparse")]
    return alt.layer(*layers).properties(height=_HEIGHT)


def _set_beside(rows: list[dict[str, Any]], letters: list[str], width: float) -> None:
    """The place of each point: its k, and a little to the side of it."""
    step = min(_BESIDE * width, 0.6 / len(letters))
    for row in rows:
        row["x"] = row["k"] + step * (letters.index(row["arm"]) - (len(letters) - 1) / 2)


def _rows(arm: ComparedArm, curve: Curve) -> list[dict[str, Any]]:
    fewest = min((one.valid for one in arm.report.scenarios), default=0)
    sign = "@" if curve.kind == "at" else "^"
    return [
        {
            "arm": arm.letter,
            "compared arm": arm.title,
            "k": point.k,
            "value": point.value,
            "low": point.low,
            "high": point.high,
            "sparse": point.sparse,
            "point": f"pass{sign}{point.k} = {rate(point.value)}",
            "95 % interval": f"{between(point.low, point.high)} ({point.method})",
            "n of a scenario": f"at least {fewest}",
            "rests on": "few: n < 2k" if point.sparse else "n ≥ 2k",
        }
        for point in curve.points
    ]
