"""Differences of arms for the terminal: the verdict in words, what was compared, what would settle it, the gate."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from passgrid.report.comparison import ArmComparison
from passgrid.report.report import Report
from passgrid.report.words import (
    MEASURE_NAMES,
    advice_text,
    axes_text,
    change_text,
    comparison_text,
    missing_text,
    significance,
)

STYLES = {"better": "green", "worse": "bold red", "regression": "bold red", "pass": "green"}


def print_comparisons(console: Console, report: Report) -> None:
    """One paragraph for each pair of arms, then what was not compared, then the gate."""
    if report.comparisons or report.unmatched:
        console.print(Text("differences, scenario by scenario", style="bold"))
    for pair in report.comparisons:
        _print_pair(console, report, pair)
    for text in report.unmatched:
        console.print(Text(f"not compared: {text}", style="yellow"))
    for one in report.judged:
        arms = f"{report.letter(one.comparison.candidate)} against {report.letter(one.comparison.baseline)}"
        line = f"gate {one.gate.text}, {arms}: {one.verdict.verdict}: {one.verdict.reason}"
        console.print(Text(line, style=STYLES.get(one.verdict.verdict, "yellow")))
    if report.gate:
        console.print(Text(f"gate: {report.gate}\n", style=STYLES.get(report.gate, "bold yellow")))


def _print_pair(console: Console, report: Report, pair: ArmComparison) -> None:
    baseline, candidate = report.letter(pair.baseline), report.letter(pair.candidate)
    head = f"{candidate} against {baseline}: {comparison_text(pair, baseline, candidate)}"
    console.print(Text(head, style=STYLES.get(pair.finding, "")))
    if pair.withheld:
        return
    lines = [axes_text(pair), significance(pair), *missing_text(pair, baseline, candidate)]
    lines += [f"{MEASURE_NAMES[measure]}: {change_text(change, measure)}" for measure, change in pair.changes.items()]
    if pair.finding == "no difference shown" and pair.advice is not None:
        lines.append(advice_text(pair.advice))
    for line in lines:
        text = Text(line)
        text.stylize("dim")
        for part in text.wrap(console, console.width - 3):
            console.print(Text("   ") + part)
    console.print()
