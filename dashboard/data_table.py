"""Tables as every page shows them: cells are plain text or numbers, and what is missing is a dash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import streamlit as st

from dashboard.number_text import NONE

_dataframe: Any = cast(Any, st).dataframe  # its declared type names pandas, which has no types here


def data_table(rows: Sequence[Mapping[str, Any]], alt: str, *, left: Iterable[str] = (), **columns: Any) -> None:
    """Rows by column name; texts stand to the right but in the columns named by `left`, the first of which stays."""
    _dataframe(
        list(rows),
        width="content",
        hide_index=True,
        placeholder=NONE,
        column_config=_columns(rows, [*left], columns),
        alt=alt,
    )


def choosable_table(rows: Sequence[Mapping[str, Any]], alt: str, key: str, columns: Mapping[str, Any]) -> list[int]:
    """A table whose rows can be ticked; returns which are."""
    picked = _dataframe(
        list(rows),
        hide_index=True,
        placeholder=NONE,
        column_config=dict(columns),
        on_select="rerun",
        selection_mode="multi-row",
        key=key,
        alt=alt,
    )
    return [number for number in picked.selection.rows if number < len(rows)]


def _columns(rows: Sequence[Mapping[str, Any]], left: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    names = list(rows[0]) if rows else []
    texts = {name: st.column_config.Column(name, alignment="right") for name in names if name not in left}
    pinned = {name: st.column_config.TextColumn(name, pinned=True) for name in left[:1]}
    return {**texts, **pinned, **given}
