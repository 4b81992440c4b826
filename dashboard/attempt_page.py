"""Attempt: one attempt from its outcome down to every message."""

from __future__ import annotations

import streamlit as st

from dashboard.arm_names import arm_key
from dashboard.attempt_changes import changes_table
from dashboard.attempt_choice import choose_attempt, show_attempt
from dashboard.attempt_header import attempt_header, checks_table, flag_list, tries_table
from dashboard.notices import with_store
from dashboard.open_store import OpenStore, transcript
from dashboard.page_links import link_to_compare, link_to_runs, remembered_comparison
from dashboard.timeline_chart import timeline
from dashboard.transcript_view import transcript_view
from passgrid.report.facts import AttemptFact


def show() -> None:
    """The page."""
    st.title("Attempt")
    with_store(_page)


def _page(opened: OpenStore) -> None:
    chosen = choose_attempt(opened)
    if chosen is None:
        st.info("The export holds no attempt yet: submit a run with `submit-matrix`, then `passgrid export`.")
        link_to_runs("Runs →")
        return
    fact, cell = chosen
    store = opened.store
    attempt = store.attempt(fact.arm.run, fact.attempt_id)
    if attempt is None:
        st.warning("This attempt is gone from the export. Reload this page.")
        return
    key: int = attempt["attempt_key"]
    _ways(fact, cell)
    tries = store.tries(key)
    attempt_header(fact, attempt, tries)
    checks_table(store.checks(key))
    flag_list(store.flags(key))
    changes_table(store.changes(key))
    timeline(store.tool_calls(key), store.model_calls(key))
    transcript_view(transcript(opened, fact.arm.run, key))
    tries_table(tries)


def _ways(fact: AttemptFact, cell: list[AttemptFact]) -> None:
    """Back to the comparison, and to the neighbours in the cell."""
    place = [one.attempt_id for one in cell].index(fact.attempt_id)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        back = remembered_comparison()
        here = f"{fact.suite}/{fact.scenario}"
        link_to_compare("← Compare", **{**(back or {"arm": [arm_key(fact.arm)]}), "scenario": here})
        if place > 0:
            _neighbour(f"← sample {cell[place - 1].sample}", cell[place - 1])
        if place + 1 < len(cell):
            _neighbour(f"sample {cell[place + 1].sample} →", cell[place + 1])


def _neighbour(text: str, fact: AttemptFact) -> None:
    """A button: a link to another address of the same page would leave the browser's address as it was."""
    st.button(f":blue[{text}]", type="tertiary", on_click=show_attempt, args=(fact.arm.run, fact.attempt_id))


if __name__ == "__main__":
    show()
