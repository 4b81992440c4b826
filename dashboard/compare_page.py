"""Compare: any arms of any runs, side by side."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_choice import choose
from dashboard.comparison import Comparison, compare
from dashboard.curve_chart import curve_charts
from dashboard.difference_table import difference_table
from dashboard.headline_cards import headline_cards
from dashboard.metric_table import metric_table
from dashboard.notices import with_store
from dashboard.open_store import OpenStore
from dashboard.page_links import link_to_runs
from dashboard.plain_text import label
from dashboard.reason_list import reason_list
from dashboard.scenario_panel import scenario_section
from dashboard.stage_table import stage_table
from dashboard.step_chart import step_charts


def show() -> None:
    """The page."""
    st.title("Compare")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    choice = choose(opened)
    if not choice.arms:
        st.info("Choose at least one arm above, or start from a run:")
        link_to_runs("Runs →")
        return
    comparison = compare(opened, choice.arms, choice.kept)
    for name in comparison.without:
        st.warning(f"{label(name)} has no attempt of a scenario that passes the filter.")
    if comparison.arms:
        _sections(comparison)


def _sections(comparison: Comparison) -> None:
    headline_cards(comparison)
    difference_table(comparison)
    st.subheader("pass@k and pass^k")
    curve_charts(comparison)
    st.subheader("All numbers")
    metric_table(comparison)
    stage_table(comparison)
    st.subheader("Scenarios: passed of valid attempts")
    scenario_section(comparison)
    st.subheader("Steps")
    step_charts(comparison)
    st.subheader("Why attempts did not pass")
    reason_list(comparison)


if __name__ == "__main__":
    show()
