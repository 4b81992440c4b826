"""Why attempts did not pass, arm by arm, each with an example."""

from __future__ import annotations

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import count, share
from dashboard.page_links import link_to_attempt
from dashboard.plain_text import label, one_line
from passgrid.report.arms import Reason

SHOWN = 5


def reason_list(comparison: Comparison) -> None:
    """The most frequent reasons of each arm."""
    for arm in comparison.arms:
        failed = sum(one.count for one in arm.report.reasons)
        wanted = arm.report.coverage.wanted
        st.markdown(f"**{arm.letter}** {label(arm.name)}: {count(failed)} of {count(wanted)} attempts did not pass")
        for reason in arm.report.reasons[:SHOWN]:
            _reason(arm, reason, failed)
        others = arm.report.reasons[SHOWN:]
        if others:
            st.caption(f"{count(sum(one.count for one in others))} × {count(len(others))} other reasons")


def _reason(arm: ComparedArm, reason: Reason, failed: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.text(f"{count(reason.count)} × ({share(reason.count / failed)})", width=130)
        st.text(one_line(reason.reason), width="content")
        link_to_attempt("example →", arm.row.name.run, reason.example)
