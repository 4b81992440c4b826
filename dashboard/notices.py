"""What a page says when it has nothing to show: what happened, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.open_store import OpenStore, open_store
from dashboard.plain_text import visible
from passgrid.warehouse.analysis.arms import StoreError
from passgrid.warehouse.analysis.store import NothingExported


def with_store(body: Callable[[OpenStore], None]) -> None:
    """Run a page's body over the store of now; say what to do where there is none, or it cannot be read."""
    try:
        body(open_store())
    except NothingExported as error:
        nothing_exported(error)
    except (StoreError, OSError) as error:
        unreadable(error)


def nothing_exported(error: NothingExported) -> None:
    """The empty state: nothing was exported yet."""
    st.info("Nothing is exported yet. Two commands fill these pages:")
    st.code(
        "submit-matrix --suite SUITE --model recorded:LABEL -k 4 --wait\npassgrid export",
        language="bash",
        wrap_lines=True,
    )
    st.caption("Then reload this page. Results of other tools come in with `passgrid import`.")
    st.text(visible(str(error)))


def unreadable(error: Exception) -> None:
    """The file is there and cannot be read."""
    st.error("The analysis file could not be read. Nothing is lost: it is made from the database.")
    st.code(visible(str(error))[:2000], language=None, wrap_lines=True)
    st.caption("Run `passgrid export` and reload this page; `passgrid doctor` examines the installation.")


def unknown(what: str, given: str) -> None:
    """The address names something that is not in the export; `what` is ours, `given` is from the address."""
    st.warning(f"{what} in this address is not in the export.")
    st.code(visible(given)[:200], language=None)
    st.caption("If it is new, `passgrid export` brings it here. Otherwise choose below.")
