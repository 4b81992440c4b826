"""How far attempts got: the stages of the scenarios, by arm."""

from __future__ import annotations

import streamlit as st

from dashboard.comparison import Comparison
from dashboard.data_table import data_table
from dashboard.number_text import NONE, count, share
from dashboard.plain_text import one_line


def stage_table(comparison: Comparison) -> None:
    """Nothing where no scenario declares stages."""
    stages = sorted({stage for arm in comparison.arms for stage in arm.report.stages})
    if not stages:
        return
    st.subheader("Stages reached")
    rows = [
        {"stage": one_line(stage), **{arm.title: _reached(arm.report.stages.get(stage)) for arm in comparison.arms}}
        for stage in stages
    ]
    data_table(rows, "Stages reached by arm", left=["stage"])


def _reached(found: tuple[int, int] | None) -> str:
    if found is None or not found[1]:
        return NONE
    return f"{count(found[0])} of {count(found[1])} ({share(found[0] / found[1])})"
