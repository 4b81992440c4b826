"""Tools: which tools the arms called, how often in vain, how long they took, and which one they called most."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_choice import compared_arms
from dashboard.comparison import ComparedArm
from dashboard.flag_section import flag_section
from dashboard.headline_cards import arm_title, figure
from dashboard.notices import with_store
from dashboard.number_text import count, share
from dashboard.open_store import OpenStore
from dashboard.page_links import TOOLS
from dashboard.plain_text import one_line
from dashboard.tool_chart import tool_chart
from dashboard.tool_table import tool_table
from dashboard.tool_use import ArmTools, arm_tools


def show() -> None:
    """The page."""
    st.title("Tools")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    comparison = compared_arms(opened, TOOLS)
    if comparison is None:
        return
    found = [arm_tools(opened, arm, comparison.kept) for arm in comparison.arms]
    for one in found:
        _card(one)
    if not any(one.rows for one in found):
        st.info("These arms called no tool, and what they were offered is not known.")
        return
    st.subheader("Share of calls")
    tool_chart(found)
    st.subheader("Every tool")
    tool_table(found)
    flag_section(opened, comparison)


def _card(one: ArmTools) -> None:
    arm = one.arm
    covered = arm.report.coverage
    with st.container(border=True):
        arm_title(arm)
        with st.container(horizontal=True, gap="medium"):
            valid = f"n = {count(covered.valid)} of {count(covered.wanted)}"
            figure("Valid attempts", valid, f"coverage {share(covered.share)}")
            figure("Tool calls", count(one.calls) if one.listed else _steps(arm), _kinds(one))
            if one.dominant is not None:
                dominant = one.dominant
                title = f"Most called, {count(dominant.calls)} of {count(one.calls)}"
                figure(title, share(dominant.calls / one.calls), one_line(dominant.tool, 40))
            if one.listed:
                figure("Wasted calls", count(one.errors), f"{share(one.errors / one.calls)} ended in an error")
            offered = [row for row in one.rows if row.offered]
            if offered:
                used = sum(row.calls > 0 for row in offered)
                figure("Tools used", f"{used} of {len(offered)}", "of those offered")


def _steps(arm: ComparedArm) -> str:
    return count(arm.report.tool_calls)


def _kinds(one: ArmTools) -> str:
    """How many of the calls went to tools that only read, as far as servers say."""
    if not one.listed:
        return "which tools is not known"
    reads = sum(row.calls for row in one.rows if row.reads is True)
    writes = sum(row.calls for row in one.rows if row.reads is False)
    silent = one.calls - reads - writes
    if silent == one.calls:
        return "reads and writes not told"
    said = [f"{count(reads)} reads", f"{count(writes)} writes"]
    return " · ".join(said + ([f"{count(silent)} not said"] if silent else []))


if __name__ == "__main__":
    show()
