"""The tables of the page Drift: equal answers by tool, and every finding with an example."""

from __future__ import annotations

from typing import Any

import orjson
import streamlit as st

from dashboard.data_table import data_table
from dashboard.plain_text import one_line
from passgrid.drift.account import ToolTally
from passgrid.drift.findings import Finding
from passgrid.drift.report import DriftArm


def tools_table(arm: DriftArm) -> None:
    """Each tool with how many of its answers equal the recorded ones."""
    rows = [_tool_row(tool) for tool in arm.drift.tools]
    equal = st.column_config.NumberColumn("equal", help="answers that differ in volatile values at most")
    data_table(rows, "Equal answers by tool", left=("tool", "server", "note"), equal=equal)


def _tool_row(tool: ToolTally) -> dict[str, Any]:
    return {
        "tool": one_line(tool.tool, 60),
        "server": one_line(tool.server, 40),
        "calls": tool.calls,
        "compared": tool.compared,
        "equal": tool.equal if tool.compared else None,
        "note": "missing: answered from the recording" if tool.missing else None,
    }


def findings_table(arm: DriftArm) -> None:
    """Every change, the worst first."""
    rows = [_finding_row(one) for one in arm.drift.findings]
    seen = st.column_config.NumberColumn("seen", help="calls; of what a server lists, attempts")
    data_table(
        rows, "Changes, the worst first", left=("severity", "tool", "where", "change", "recorded", "live"), seen=seen
    )


def _finding_row(one: Finding) -> dict[str, Any]:
    return {
        "severity": str(one.severity),
        "tool": one_line(one.tool, 60),
        "where": one_line(one.place or ("tool" if one.part == "surface" else "answer"), 80),
        "change": one_line(one.change, 80),
        "seen": one.count,
        "recorded": _shown(one.recorded),
        "live": _shown(one.live),
    }


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    return one_line(value if isinstance(value, str) else orjson.dumps(value).decode(), 120)
