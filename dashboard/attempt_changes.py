"""What an attempt left behind: the files of its workspace that are not as they were."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.data_table import data_table
from dashboard.number_text import NONE, count
from dashboard.plain_text import one_line
from passgrid.warehouse.analysis.store import ChangeRow

SHOWN = 500


def changes_table(changes: Sequence[ChangeRow]) -> None:
    """Every file that was created, changed or deleted; nothing where there is none."""
    if not changes:
        return
    title = "1 file" if len(changes) == 1 else f"{count(len(changes))} files"
    with st.expander(f"{title} of the workspace changed"):
        rows = [
            {
                "file": one_line(one.subject, 200),
                "change": one.change,
                "bytes before": NONE if one.before_bytes is None else count(one.before_bytes),
                "bytes after": NONE if one.after_bytes is None else count(one.after_bytes),
                "SHA-256 after": NONE if one.after_hash is None else one.after_hash[:12],
            }
            for one in changes[:SHOWN]
        ]
        data_table(rows, "Files of the workspace that changed", left=["file", "change"])
        if len(changes) > SHOWN:
            st.caption(f"The first {SHOWN} of them; the analysis file holds all.")
