"""Reports for the terminal, 80 columns wide: rates with their intervals, then what arms used, then why they failed."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli.comparison_table import print_comparisons
from passgrid.report.arms import ArmReport
from passgrid.report.distribution import Distribution
from passgrid.report.facts import ArmName
from passgrid.report.report import Report
from passgrid.report.words import WITHHELD, headline
from passgrid.statistics import Curve

BLOCKS = " ▁▂▃▄▅▆▇█"
"""Heights of a curve's points, from 0 to 1."""
SHOWN_K = 5
SHOWN_REASONS = 4
SPARSE = "*"


def print_report(console: Console, report: Report) -> None:
    """Everything, in the order people read it."""
    arms = report.arms
    letters = [report.letter(arm) for arm in arms]
    console.print(_arms_table(arms, letters))
    for kind in ("at", "hat"):
        console.print(_curve_table(arms, letters, kind))
    console.print(Text(f"{SPARSE} fewer than 2k attempts of some scenario; intervals are of 95 %\n", style="dim"))
    console.print(_usage_table(arms, letters))
    for letter, arm in zip(letters, arms, strict=True):
        _print_reasons(console, letter, arm)
    print_comparisons(console, report)
    withheld = [(letter, arm) for letter, arm in zip(letters, arms, strict=True) if arm.coverage.headline_withheld]
    for letter, arm in withheld:
        console.print(Text(f"{letter}  {headline(arm)}", style="red"), soft_wrap=False)
    if withheld:
        console.print(WITHHELD, style="bold red")


def report_text(report: Report) -> str:
    """The same as plain text, 80 columns wide."""
    out = StringIO()
    print_report(Console(file=out, width=80, color_system=None), report)
    return out.getvalue()


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left", title_style="bold"
    )


def _arms_table(arms: Sequence[ArmReport], letters: Sequence[str]) -> Table:
    runs = {arm.name.run: _run_text(arm.name) for arm in arms}
    table = _table("arms of " + ", ".join(runs.values()))
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("model", overflow="fold", min_width=12)
    table.add_column("prompt", overflow="fold", min_width=8)
    targets = any(arm.name.target != "default" for arm in arms)
    if targets:
        table.add_column("target", overflow="fold")
    agents = any(arm.name.agent != "default" for arm in arms)
    if agents:
        table.add_column("agent", overflow="fold")
    for column in ("run", "scenarios", "n", "coverage", "passed"):
        if column != "run" or len(runs) > 1:
            table.add_column(column, justify="right", no_wrap=True)
    for letter, arm in zip(letters, arms, strict=True):
        name, covered = arm.name, arm.coverage
        share = "-" if covered.share is None else f"{covered.share:.0%}"
        run = [name.run[:8]] if len(runs) > 1 else []
        counts = (str(len(arm.scenarios)), f"{covered.valid}/{covered.wanted}", share, str(arm.passed))
        axes = [
            name.model, name.prompt, *([name.target] if targets else []), *([name.agent] if agents else []),
        ]  # fmt: skip
        table.add_row(letter, *axes, *run, *counts)
    return table


def _run_text(name: ArmName) -> str:
    imported = f", imported from {name.imported_from}" if name.imported_from else ""
    return f"{name.run[:8]} {name.label} {name.mode}{imported}"


def _curve_table(arms: Sequence[ArmReport], letters: Sequence[str], kind: str) -> Table:
    sign, meaning = ("@", "at least one of k passes") if kind == "at" else ("^", "all of k pass")
    most = min(SHOWN_K, max((arm.most_wanted for arm in arms), default=1) or 1)
    table = _table(f"pass{sign}k: {meaning}")
    table.add_column("#", justify="right")
    table.add_column("curve", no_wrap=True)
    table.add_column("n", justify="right")
    table.add_column("cover", justify="right")
    for k in range(1, most + 1):
        table.add_column(f"pass{sign}{k}", justify="right", no_wrap=True)
    for letter, arm in zip(letters, arms, strict=True):
        _add_curve(table, letter, arm, arm.pass_at if kind == "at" else arm.pass_hat, most)
    return table


def _add_curve(table: Table, letter: str, arm: ArmReport, curve: Curve, most: int) -> None:
    covered = arm.coverage
    share = "-" if covered.share is None else f"{covered.share:.0%}"
    if covered.headline_withheld:
        bounds = "N/A" if covered.low is None or covered.high is None else f"{covered.low:.2f}…{covered.high:.2f}"
        table.add_row(letter, "withheld", str(covered.valid), share, bounds)
        return
    points = {point.k: point for point in curve.points}
    cells: list[Text] = []
    for k in range(1, most + 1):
        if k not in points:
            cells.append(Text("N/A", style="dim"))
            continue
        point = points[k]
        cell = Text(f"{point.value:.3f}{SPARSE if point.sparse else ' '}")
        cell.append(f"\n{point.low:.2f}–{point.high:.2f}", style="dim")
        cells.append(cell)
    drawn = "".join(BLOCKS[max(1, round(point.value * (len(BLOCKS) - 1)))] for point in curve.points[:SHOWN_K])
    table.add_row(letter, Text(drawn, style="green"), str(covered.valid), share, *cells)


def _usage_table(arms: Sequence[ArmReport], letters: Sequence[str]) -> Table:
    table = _table("per attempt: median / 90th percentile / maximum")
    table.add_column("#", justify="right")
    for column in ("steps", "seconds", "tokens", "cost", "calls", "wasted", "answered"):
        table.add_column(column, justify="right", overflow="fold")
    for letter, arm in zip(letters, arms, strict=True):
        answered = ", ".join(f"{count:,} {name}" for name, count in arm.answers.items() if count) or "-"
        cost = "unknown" if arm.cost_usd is None else f"${arm.cost_usd:.2f}"
        spread = (_spread(arm.steps, "g"), _spread(arm.duration_s, ".2f"), _spread(arm.tokens, ",g"))
        table.add_row(letter, *spread, cost, f"{arm.tool_calls:,}", str(arm.wasted_calls), answered)
    return table


def _spread(found: Distribution | None, form: str) -> str:
    if found is None:
        return "unknown"
    return " / ".join(format(value, form) for value in (found.median, found.p90, found.max))


def _print_reasons(console: Console, letter: str, arm: ArmReport) -> None:
    if arm.flags:
        found = ", ".join(f"{count} × {name}" for name, count in arm.flags.items())
        console.print(Text(f"{letter}  looks like a success and may be none: {found}", style="yellow"))
    if not arm.reasons:
        return
    console.print(Text(f"{letter}  {arm.name.model}, {arm.name.prompt}: why attempts did not pass", style="bold"))
    for one in arm.reasons[:SHOWN_REASONS]:
        reason = " ".join(one.reason.split())
        line = Text(f"   {one.count:>4} × {one.example[:8]}  {reason}", no_wrap=True, overflow="ellipsis")
        console.print(line, no_wrap=True, overflow="ellipsis")
    rest = sum(one.count for one in arm.reasons[SHOWN_REASONS:])
    if rest:
        console.print(Text(f"   {rest:>4} × other reasons", style="dim"))
