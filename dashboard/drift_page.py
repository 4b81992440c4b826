"""Drift: how the servers of today differ from the recordings, run by run."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_names import full_name
from dashboard.drift_tables import findings_table, tools_table
from dashboard.notices import unknown, with_store
from dashboard.number_text import count, share
from dashboard.open_store import OpenStore, drift
from dashboard.page_links import DRIFT, arrived, link_to_attempt, set_address
from dashboard.plain_text import label, one_line
from passgrid.drift.findings import Finding, Severity
from passgrid.drift.report import LEAST_COVERAGE, DriftArm
from passgrid.warehouse.analysis.store import RunRow

EXAMPLES = 5


def show() -> None:
    """The page."""
    st.title("Drift")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    runs = [run for run in opened.store.runs() if run.mode == "drift"]
    if not runs:
        st.info("No run compared live servers with recordings yet. This measures it, and brings it here:")
        st.code("passgrid drift --suite SUITE --model recorded:LABEL\npassgrid export", language="bash")
        return
    run = _chosen(runs)
    if arrived(DRIFT) or run.run_id != st.query_params.get("run"):
        set_address(run=run.run_id)
    for arm in drift(opened, run.run_id):
        _arm(arm)


def _chosen(runs: list[RunRow]) -> RunRow:
    """The run of the address, or the newest; chosen anew where somebody chooses."""
    by_id = {run.run_id: run for run in runs}
    given = st.query_params.get("run", "")
    if given and given not in by_id:
        unknown("The run", given)
    first = list(by_id).index(given) if given in by_id else 0
    picked = st.selectbox(
        "Run", list(by_id), index=first, format_func=lambda name: one_line(f"{by_id[name].label} · {name[:8]}")
    )
    return by_id[picked]


def _arm(arm: DriftArm) -> None:
    st.subheader(label(full_name(arm.name)))
    if arm.coverage < LEAST_COVERAGE:
        message = f"{arm.valid} of {arm.wanted} attempts are valid: what was not seen may have changed too."
        st.warning(f"Coverage {share(arm.coverage)}. {message}")
    _cards(arm)
    tools_table(arm)
    if not arm.drift.findings:
        st.success("Nothing differs from the recordings.")
        return
    findings_table(arm)
    _examples(arm)


def _cards(arm: DriftArm) -> None:
    compared = sum(tool.compared for tool in arm.drift.tools)
    equal = sum(tool.equal for tool in arm.drift.tools)
    cards = [("Breaking", count(len(arm.findings(Severity.BREAKING))))]
    cards += [("Compatible", count(len(arm.findings(Severity.COMPATIBLE))))]
    cards += [("Value only", count(len(arm.findings(Severity.VALUE_ONLY))))]
    cards += [("Equal answers", f"{count(equal)} of {count(compared)}")]
    cards += [("Valid attempts", f"{count(arm.valid)} of {count(arm.wanted)}")]
    with st.container(horizontal=True):
        for name, value in cards:
            st.metric(name, value, border=True, width=170)


def _examples(arm: DriftArm) -> None:
    """Where breaking changes were first seen."""
    for one in arm.findings(Severity.BREAKING)[:EXAMPLES]:
        with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
            st.text(_told(one), width="content")
            if one.attempt:
                link_to_attempt("attempt →", arm.name.run, one.attempt)


def _told(one: Finding) -> str:
    place = f" {one.place}" if one.place else ""
    return one_line(f"{one.tool}{place}: {one.change}")


if __name__ == "__main__":
    show()
