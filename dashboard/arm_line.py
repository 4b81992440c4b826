"""The arms of a page in one line each: what they are, n and coverage."""

from __future__ import annotations

import streamlit as st

from dashboard.comparison import Comparison
from dashboard.headline_cards import arm_title
from dashboard.number_text import between, count, rate, share


def arm_lines(comparison: Comparison) -> None:
    """Beside every figure of a page stand these: where they come from, and on how much they rest."""
    for arm in comparison.arms:
        covered = arm.report.coverage
        with st.container(border=True, gap="small"):
            arm_title(arm)
            said = [f"n = {count(covered.valid)} of {count(covered.wanted)}", f"coverage {share(covered.share)}"]
            point = next(iter(arm.report.pass_at.points), None)
            if arm.withheld:
                said.append(f"pass rate withheld, between {between(covered.low, covered.high)}")
            elif point is not None:
                said.append(f"pass@1 = {rate(point.value)} ({between(point.low, point.high)})")
            st.text(" · ".join(said))
