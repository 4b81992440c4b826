"""Links between the pages. Everything a page shows is in its address, so that a link can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.plain_text import label

RUNS, COMPARE, ATTEMPT, DRIFT = "runs_page.py", "compare_page.py", "attempt_page.py", "drift_page.py"
STAGES, TOOLS = "stages_page.py", "tools_page.py"
_COMPARED = "compared"
_SHOWN_ATTEMPT = "shown_attempt"
_PAGE = "page"


def _coloured(text: str) -> str:
    return f":blue[{label(text)}]"


def link_to_runs(text: str = "Runs") -> None:
    """A link to the list of runs; `text` is plain text."""
    st.page_link(RUNS, label=_coloured(text))


def link_to_compare(text: str, **query: str | Sequence[str]) -> None:
    """A link to Compare: `run=` for whole runs, `arm=` for single arms; `text` is plain text."""
    st.page_link(COMPARE, label=_coloured(text), query_params=dict(query))


def links_of_arms(here: str) -> None:
    """From one page about arms to the others, with the same arms and filters."""
    query = {name: list(values) for name, values in remembered_comparison().items()}
    with st.container(horizontal=True, gap="medium"):
        for page, name in ((COMPARE, "Compare"), (STAGES, "Stages"), (TOOLS, "Tools")):
            if page != here:
                st.page_link(page, label=_coloured(f"{name} →"), query_params=query)


def link_to_attempt(text: str, run_id: str, attempt_id: str) -> None:
    """A link to one attempt; `text` is plain text."""
    st.page_link(ATTEMPT, label=_coloured(text), query_params={"run": run_id, "attempt": attempt_id})


def link_to_drift(text: str, run_id: str) -> None:
    """A link to what a run found out about drift; `text` is plain text."""
    st.page_link(DRIFT, label=_coloured(text), query_params={"run": run_id})


def remember_comparison(query: Mapping[str, Sequence[str]]) -> None:
    """Keep what Compare shows, for the way back."""
    st.session_state[_COMPARED] = {name: list(values) for name, values in query.items() if values}


def remembered_comparison() -> dict[str, list[str]]:
    """What Compare showed last in this session."""
    return st.session_state.get(_COMPARED, {})


def remember_attempt(run_id: str, attempt_id: str) -> None:
    """Keep which attempt was looked at."""
    st.session_state[_SHOWN_ATTEMPT] = (run_id, attempt_id)


def remembered_attempt() -> tuple[str, str]:
    """Which attempt was looked at last in this session; empty when none was."""
    return st.session_state.get(_SHOWN_ATTEMPT, ("", ""))


def arrived(page: str) -> bool:
    """Whether this session showed another page before, or none; to be asked once in each run of a page.

    Only then may a page write an address of its own: going back in the browser would otherwise lead here again.
    """
    before = st.session_state.get(_PAGE)
    st.session_state[_PAGE] = page
    return before != page


def set_address(**query: str | Sequence[str]) -> None:
    """Write these parameters into the address, in one step; those that are empty are taken out."""
    now = {name: st.query_params.get_all(name) for name in st.query_params}
    given = {name: [value] if isinstance(value, str) else list(value) for name, value in query.items()}
    wanted = {name: kept for name, values in {**now, **given}.items() if (kept := [one for one in values if one])}
    if wanted != now:
        st.query_params.from_dict(wanted)
