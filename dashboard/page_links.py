"""Links between the pages. Everything a page shows is in its address, so that a link can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from dashboard.plain_text import label

RUNS, COMPARE, ATTEMPT = "runs_page.py", "compare_page.py", "attempt_page.py"
_COMPARED = "compared"
_SHOWN_ATTEMPT = "shown_attempt"


def _coloured(text: str) -> str:
    return f":blue[{label(text)}]"


def link_to_runs(text: str = "Runs") -> None:
    """A link to the list of runs; `text` is plain text."""
    st.page_link(RUNS, label=_coloured(text))


def link_to_compare(text: str, **query: str | Sequence[str]) -> None:
    """A link to Compare: `run=` for whole runs, `arm=` for single arms; `text` is plain text."""
    st.page_link(COMPARE, label=_coloured(text), query_params=dict(query))


def link_to_attempt(text: str, run_id: str, attempt_id: str) -> None:
    """A link to one attempt; `text` is plain text."""
    st.page_link(ATTEMPT, label=_coloured(text), query_params={"run": run_id, "attempt": attempt_id})


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


def set_address(**query: str | Sequence[str]) -> None:
    """Write these parameters into the address, and take out those that are empty."""
    for name, value in query.items():
        wanted = [value] if isinstance(value, str) else list(value)
        wanted = [one for one in wanted if one]
        if wanted and st.query_params.get_all(name) != wanted:
            st.query_params[name] = wanted
        elif not wanted and name in st.query_params:
            del st.query_params[name]
