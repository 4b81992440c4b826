"""Stages: where in the job attempts fall over, by model and by scenario, down to the attempts."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_choice import compared_arms
from dashboard.arm_line import arm_lines
from dashboard.notices import with_store
from dashboard.open_store import OpenStore
from dashboard.page_links import STAGES
from dashboard.stage_grid import grid_section
from dashboard.stage_section import shown_stages, stage_chart
from dashboard.stage_table import stage_table


def show() -> None:
    """The page."""
    st.title("Stages")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    comparison = compared_arms(opened, STAGES)
    if comparison is None:
        return
    arm_lines(comparison)
    order = shown_stages(opened, comparison)
    if not order:
        st.info("No scenario of these arms has stages. A scenario names them like checks:")
        st.code("stages:\n  looked-up: {tool_called: {tool: get_article}}", language="yaml")
        return
    st.subheader("Profile")
    stage_chart(comparison, order)
    stage_table(comparison, order)
    st.subheader("Scenarios by stages")
    grid_section(comparison, order)


if __name__ == "__main__":
    show()
