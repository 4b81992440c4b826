"""What is running now: refreshed by itself, without touching the rest of the page."""

from __future__ import annotations

import os
from typing import Any

import streamlit as st

from dashboard.data_table import data_table
from dashboard.live_progress import ApiUnreachable, LiveRun, active_runs
from dashboard.number_text import count
from dashboard.plain_text import label, one_line, visible

EVERY = "2s"
FIRST = ("passed", "failed")
"""Outcomes that always have a column."""


@st.fragment(run_every=EVERY)
def live_panel() -> None:
    """Active runs by arm and outcome, and their reasons so far."""
    st.subheader("Running now")
    try:
        runs = active_runs(os.environ.get("PASSGRID_API_URL", ""), os.environ.get("PASSGRID_API_TOKEN", ""))
    except ApiUnreachable as error:
        st.warning("The API does not answer: progress is unknown, what is exported is shown below.")
        st.code(visible(str(error)), language=None, wrap_lines=True)
        st.caption(
            "`passgrid up` starts it, `passgrid status` says what runs, `passgrid export` brings the list up to date."
        )
        return
    _say_what_ended(runs)
    if not runs:
        st.caption("No run is active.")
    for run in runs:
        with st.container(border=True):
            _run(run)


def _say_what_ended(runs: list[LiveRun]) -> None:
    ids = {run.run_id for run in runs}
    ended = st.session_state.get("live_runs", set[str]()) - ids
    st.session_state["live_runs"] = ids
    st.session_state["ended_runs"] = (st.session_state.get("ended_runs", set[str]()) | ended) - ids
    if st.session_state["ended_runs"]:
        names = ", ".join(f"`{run_id[:8]}`" for run_id in sorted(st.session_state["ended_runs"]))
        st.success(f"Ended while you watched: {names}. The results come into the list below with the next export.")


def _run(run: LiveRun) -> None:
    st.markdown(f"**{label(run.label)}** · {label(run.mode)} · `{label(run.run_id[:8])}`")
    st.progress(
        run.done / run.wanted if run.wanted else 0.0, text=f"{count(run.done)} of {count(run.wanted)} attempts done"
    )
    data_table(
        [_arm_row(run, number) for number in range(len(run.arms))],
        f"Progress of run {run.run_id[:8]} by arm",
        left=["arm"],
        done=st.column_config.ProgressColumn("done", format="percent", min_value=0, max_value=1),
    )
    if run.reasons:
        st.caption("Why attempts did not pass so far")
        data_table(
            [{"attempts": number, "reason": one_line(reason)} for reason, number in run.reasons],
            "Reasons so far",
            attempts=st.column_config.NumberColumn(width="small"),
            reason=st.column_config.TextColumn("reason"),
        )
    st.caption(f"Stop it with `passgrid cancel {label(run.run_id[:8])}`; what is done stays.")


def _arm_row(run: LiveRun, number: int) -> dict[str, Any]:
    arm = run.arms[number]
    others = sorted({name for one in run.arms for name in one.outcomes} - set(FIRST))
    return {
        "arm": one_line(arm.name),
        "done": arm.done / arm.wanted if arm.wanted else 0.0,
        "of": arm.wanted,
        "running": arm.running,
        **{one_line(name): arm.outcomes.get(name, 0) for name in (*FIRST, *others)},
    }
