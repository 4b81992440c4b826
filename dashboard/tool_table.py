"""Every tool of every arm with its numbers; what is unknown is a dash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.data_table import data_table
from dashboard.number_text import NONE, count, milliseconds, share
from dashboard.plain_text import one_line
from dashboard.tool_use import ArmTools
from passgrid.warehouse.analysis.tools import ToolRow


def tool_table(found: Sequence[ArmTools]) -> None:
    """Arms side by side, the most called tools first; those that were offered and never called come last."""
    totals = Counter[str]()
    for one in found:
        for row in one.rows:
            totals[row.tool] += row.calls
    order = [tool for tool, _ in totals.most_common()]
    pairs = [(order.index(row.tool), one, row) for one in found for row in one.rows]
    rows = [_row(one, row) for _, one, row in sorted(pairs, key=lambda pair: pair[0])]
    data_table(rows, "Tools of each arm", left=["tool", "arm", "server", "kind"])
    st.caption(
        "Calls of all attempts, valid or not. Wasted calls ended in an error. Latency is what a call took, median and "
        "90th percentile: in replay that of looking up the recording. Kind is what a server says with readOnlyHint."
    )


def _row(one: ArmTools, row: ToolRow) -> dict[str, Any]:
    return {
        "tool": one_line(row.tool, 60),
        "arm": one.arm.letter,
        "calls": count(row.calls) if row.calls else "never",
        "share": share(row.calls / one.calls) if row.calls else NONE,
        "wasted": count(row.errors) if row.calls else NONE,
        "wasted share": share(row.errors / row.calls) if row.calls else NONE,
        "attempts": count(row.attempts) if row.calls else NONE,
        "median": milliseconds(row.median_ms),
        "p90": milliseconds(row.p90_ms),
        "kind": "not said" if row.reads is None else "reads" if row.reads else "writes",
        "server": one_line(row.server, 40) or NONE,
    }
