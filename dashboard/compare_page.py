"""Compare: any arms of any runs, side by side."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_choice import compared_arms
from dashboard.comparison import Comparison
from dashboard.curve_chart import curve_charts
from dashboard.difference_section import difference_section
from dashboard.flag_section import flag_section
from dashboard.headline_cards import headline_cards
from dashboard.metric_table import metric_table
from dashboard.notices import with_store
from dashboard.open_store import OpenStore
from dashboard.page_links import COMPARE
from dashboard.reason_list import reason_list
from dashboard.scenario_panel import scenario_section
from dashboard.stage_section import stage_section
from dashboard.step_chart import step_charts


def show() -> None:
    """The page."""
    st.title("Compare")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    comparison = compared_arms(opened, COMPARE)
    if comparison is not None:
        _sections(opened, comparison)


def _sections(opened: OpenStore, comparison: Comparison) -> None:
    headline_cards(comparison)
    difference_section(opened, comparison)
    st.subheader("pass@k and pass^k")
    curve_charts(comparison)
    st.subheader("All numbers")
    metric_table(comparison)
    stage_section(opened, comparison)
    st.subheader("Scenarios: passed of valid attempts")
    scenario_section(comparison)
    st.subheader("Steps")
    step_charts(comparison)
    st.subheader("Why attempts did not pass")
    reason_list(comparison)
    flag_section(opened, comparison)


if __name__ == "__main__":
    show()
