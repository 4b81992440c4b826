"""Drift as tables that fit a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import orjson
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from passgrid.drift.findings import Finding, Severity
from passgrid.drift.report import LEAST_COVERAGE, DriftArm

STYLES = {Severity.BREAKING: "bold red", Severity.COMPATIBLE: "green", Severity.VALUE_ONLY: "yellow"}
MOST_ROWS = 40
LONGEST = 44


def print_drift(console: Console, arms: Sequence[DriftArm]) -> None:
    """Every arm: equal answers by tool, then what changed, the worst first."""
    for arm in arms:
        title = f"{arm.name.model}, prompt {arm.name.prompt}, target {arm.name.target}: run {arm.name.run[:8]}"
        console.print(Text(f"{title} {arm.name.label}", style="bold"))
        console.print(_tools_table(arm))
        if arm.drift.findings:
            console.print(_findings_table(arm))
        console.print(_summary(arm))
        left = len(arm.drift.findings) - MOST_ROWS
        if left > 0:
            console.print(Text(f"{left} more: passgrid drift {arm.name.run[:12]} --json", style="dim"))


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _tools_table(arm: DriftArm) -> Table:
    table = _table("tool", "server")
    for column in ("calls", "equal", ""):
        table.add_column(column, justify="left" if not column else "right", no_wrap=True)
    for one in arm.drift.tools:
        equal = f"{one.equal}/{one.compared}" if one.compared else "-"
        note = "missing: answered from the recording" if one.missing else ""
        style = "" if one.equal == one.compared and not one.missing else "yellow"
        table.add_row(Text(one.tool), Text(one.server), str(one.calls), equal, Text(note), style=style)
    return table


def _findings_table(arm: DriftArm) -> Table:
    table = _table("", "tool", "where", "change", "seen", "example")
    table.columns[0].no_wrap = table.columns[4].no_wrap = True
    table.columns[4].justify = "right"
    for one in islice(arm.drift.findings, MOST_ROWS):
        severity = Text(str(one.severity), style=STYLES[one.severity])
        where = one.place or ("tool" if one.part == "surface" else "answer")
        table.add_row(severity, Text(one.tool), Text(where), Text(one.change), str(one.count), Text(_example(one)))
    return table


def _example(one: Finding) -> str:
    if one.recorded is None:
        return f"now {_shown(one.live)}" if one.live is not None or one.change == "added" else ""
    return f"{_shown(one.recorded)} → {_shown(one.live)}" if one.live is not None else f"was {_shown(one.recorded)}"


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _summary(arm: DriftArm) -> Text:
    counts = {severity: len(arm.findings(severity)) for severity in Severity}
    text = Text(", ".join(f"{count} {severity}" for severity, count in counts.items()))
    text.append(f"; {arm.valid} of {arm.wanted} attempts valid\n")
    if arm.coverage < LEAST_COVERAGE:
        text.append("Coverage below 95 %: what was not seen may have changed too.\n", style="bold red")
    return text
