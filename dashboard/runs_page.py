"""Runs: what is running now, and every run that was exported."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.arm_names import USUAL
from dashboard.data_table import choosable_table
from dashboard.live_panel import live_panel
from dashboard.notices import with_store
from dashboard.number_text import age, moment
from dashboard.open_store import OpenStore, exported_at
from dashboard.page_links import RUNS, arrived, link_to_compare, link_to_drift
from dashboard.plain_text import one_line
from passgrid.warehouse.analysis.store import RunRow

EVERY = "5s"  # how often it is looked whether something new was exported


def show() -> None:
    """The page."""
    st.title("Runs")
    arrived(RUNS)
    live_panel()
    st.subheader("Exported runs")
    _exported_panel()


@st.fragment(run_every=EVERY)
def _exported_panel() -> None:
    """Follows what is exported while the page is open."""
    with_store(_exported)


def _exported(opened: OpenStore) -> None:
    at = exported_at(opened)
    st.caption(
        f"The last change was exported {age(at)} ({moment(at)}). `passgrid dashboard` exports while it runs; "
        "`passgrid export` does it at once."
    )
    runs = opened.store.runs()
    if not runs:
        st.info("The export holds no run yet: submit one with `submit-matrix`, then `passgrid export`.")
        return
    rows = [_row(run) for run in runs]
    if all(set(run.agents) <= {USUAL["agent"]} for run in runs):
        for row in rows:
            del row["agents"]
    picked = choosable_table(rows, "Exported runs, the newest first", "runs_table", _COLUMNS)
    chosen = [runs[number] for number in picked]
    _links(chosen, runs)


def _links(chosen: list[RunRow], runs: list[RunRow]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen:
            number = f"{len(chosen)} runs" if len(chosen) > 1 else f"run {chosen[0].run_id[:8]}"
            link_to_compare(f"Compare {number} →", run=[run.run_id for run in chosen])
            if len(chosen) == 1 and chosen[0].mode == "drift":
                link_to_drift("Its drift →", chosen[0].run_id)
        else:
            link_to_compare(f"Compare the newest run ({runs[0].label}) →", run=runs[0].run_id)
            if len(runs) > 1:
                link_to_compare("Compare the two newest →", run=[run.run_id for run in runs[:2]])
            st.caption("Tick rows to compare those.")


def _row(run: RunRow) -> dict[str, Any]:
    return {
        "label": one_line(run.label, 60),
        "run": run.run_id[:8],
        "mode": run.mode if run.imported_from is None else f"{run.mode}, imported ({one_line(run.imported_from, 20)})",
        "state": run.state,
        "k": run.k,
        "wanted": run.wanted,
        "done": run.done,
        "valid": run.valid,
        "coverage": run.valid / run.wanted if run.wanted else None,
        "passed": run.passed,
        "models": one_line(", ".join(filter(None, run.models)), 120) or None,
        "agents": _agents(run),
        "suites": one_line(", ".join(filter(None, run.suites)), 120) or None,
        "created": moment(run.created_at),
    }


def _agents(run: RunRow) -> str | None:
    """What another tool calls its default is not ours."""
    if run.imported_from is not None and run.agents == (USUAL["agent"],):
        return None
    return one_line(", ".join(run.agents), 120) or None


_COLUMNS = {
    "label": st.column_config.TextColumn("label", pinned=True),
    "coverage": st.column_config.NumberColumn("coverage", format="percent", help="valid / wanted"),
    "valid": st.column_config.NumberColumn("valid", help="attempts that count: passed, failed, or ended at a limit"),
    "agents": st.column_config.TextColumn(
        "agents", help="default: what a scenario declares, or else the built-in agent; see docs/agents.md"
    ),
    "k": st.column_config.NumberColumn("k", help="samples of each cell"),
}


if __name__ == "__main__":
    show()
