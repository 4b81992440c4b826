"""Failures that look like a success: how often detectors fired, by arm, each with an example."""

from __future__ import annotations

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import count
from dashboard.open_store import OpenStore, flags
from dashboard.page_links import link_to_attempt
from dashboard.plain_text import label, one_line
from passgrid.report.facts import AttemptFact


def flag_section(opened: OpenStore, comparison: Comparison) -> None:
    """Nothing where no detector fired."""
    if not any(arm.report.flags for arm in comparison.arms):
        return
    st.subheader("Flags: what looks like a success and may not be one")
    for arm in comparison.arms:
        if arm.report.flags:
            _of_arm(opened, arm)
    st.caption("Found by detectors in valid attempts; they stand beside the pass and are never part of it.")


def _of_arm(opened: OpenStore, arm: ComparedArm) -> None:
    valid = arm.report.coverage.valid
    st.markdown(f"**{arm.letter}** {label(arm.name)}")
    details = flags(opened, arm.row.name.run)
    for name, number in sorted(arm.report.flags.items(), key=lambda item: (-item[1], item[0])):
        example = _example(arm, name)
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.text(f"{count(number)} of {count(valid)}", width=90)
            st.text(one_line(name.replace("_", " "), 60), width=190)
            st.text(one_line(details.get((example.attempt_id, name), ""), 160), width="content")
            link_to_attempt("example →", example.arm.run, example.attempt_id)


def _example(arm: ComparedArm, name: str) -> AttemptFact:
    return min((fact for fact in arm.facts if fact.valid and name in fact.flags), key=lambda fact: fact.attempt_id)
