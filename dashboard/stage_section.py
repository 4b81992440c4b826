"""The stage profile: how many attempts reached each stage, by arm, with n and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import between, share
from dashboard.open_store import OpenStore, stages
from dashboard.plain_text import one_line
from dashboard.stage_table import stage_table
from passgrid.statistics import wilson


def stage_section(opened: OpenStore, comparison: Comparison) -> None:
    """Chart and table; nothing where no scenario has stages."""
    order = shown_stages(opened, comparison)
    if not order:
        return
    st.subheader("Stages reached")
    stage_chart(comparison, order)
    stage_table(comparison, order)


def shown_stages(opened: OpenStore, comparison: Comparison) -> list[str]:
    """Stages that a valid attempt of any arm was expected to reach, in the order of the scenarios."""
    there = {stage for arm in comparison.arms for stage, (_, of) in arm.report.stages.items() if of}
    runs = tuple(dict.fromkeys(arm.row.name.run for arm in comparison.arms))
    return [stage for stage in stages(opened, runs) if stage in there]


def stage_chart(comparison: Comparison, order: Sequence[str]) -> None:
    """One row a stage, in it one bar an arm."""
    st.altair_chart(_chart(comparison.arms, order), alt="Stages reached, by arm")
    st.caption(
        "Valid attempts that reached a stage, of those that were expected to; lines are 95 % intervals over attempts "
        "(Wilson). A scenario that does not expect a stage is left out of it."
    )


def _chart(arms: Sequence[ComparedArm], order: Sequence[str]) -> Any:
    names = {stage: one_line(stage, 40) for stage in order}
    rows = [
        _row(arm, stage, names[stage]) for arm in arms for stage in order if arm.report.stages.get(stage, (0, 0))[1]
    ]
    letters = [arm.letter for arm in arms]
    legend = alt.Legend(title=None, orient="top", columns=4) if len(arms) > 1 else None
    y = alt.Y("stage:N", sort=list(names.values()), title=None, scale=alt.Scale(paddingInner=0.25))
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=y.axis(labelLimit=140, labelOverlap=False, domain=False, ticks=False),
        yOffset=alt.YOffset("arm:N", sort=letters),
        tooltip=[alt.Tooltip(name, type="nominal") for name in ("stage", "compared arm", "reached", "95 % interval")],
    )
    x = alt.X("share:Q", title="share of valid attempts", scale=alt.Scale(domain=[0, 1.3], nice=False))
    colour = alt.Color("arm:N", scale=alt.Scale(domain=letters, range=[arm.colour for arm in arms]), legend=legend)
    bars = base.mark_bar(opacity=0.75).encode(
        x=x.axis(format="%", values=[0, 0.25, 0.5, 0.75, 1], grid=True), color=colour
    )
    whiskers = base.mark_rule(color="#1F2937", strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q")
    texts = base.mark_text(align="left", fontSize=11, color="#1F2937").encode(x=alt.datum(1.02), text="text:N")
    height = len(order) * (18 * len(arms) + 8)
    return alt.layer(bars, whiskers, texts).properties(height=height + 125)


def _row(arm: ComparedArm, stage: str, shown: str) -> dict[str, Any]:
    reached, of = arm.report.stages[stage]
    ends = wilson(reached, of) or (0.0, 1.0)
    return {
        "stage": shown,
        "arm": arm.letter,
        "compared arm": arm.title,
        "share": reached / of,
        "low": ends[0],
        "high": ends[1],
        "text": f"{reached}/{of}",
        "reached": f"{reached} of {of} ({share(reached / of)})",
        "95 % interval": between(*ends),
    }
