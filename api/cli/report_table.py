"""Reports for the terminal: a table of arms that fits 80 columns, curves below it, then the reasons."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from passgrid.report.arms import ArmReport
from passgrid.statistics import Curve, CurvePoint

BAR = 24
"""Characters of a full bar."""
SHOWN_REASONS = 4


def print_report(console: Console, arms: Sequence[ArmReport]) -> None:
    """Everything, in the order people read it."""
    console.print(_arms_table(arms))
    for kind in ("at", "hat"):
        console.print(_curves(arms, kind))
    for i, arm in enumerate(arms, 1):
        _print_reasons(console, i, arm)
    if any(arm.coverage.headline_withheld for arm in arms):
        console.print("Coverage below 95 %: pass rates are withheld, only their bounds are shown.", style="bold red")


def _arms_table(arms: Sequence[ArmReport]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("#", justify="right")
    table.add_column("arm", overflow="fold", min_width=22)
    for column in ("n", "cover", "pass@1", "95 %", "steps", "wasted", "cost"):
        table.add_column(column, justify="right", no_wrap=True)
    for i, arm in enumerate(arms, 1):
        table.add_row(
            str(i),
            _arm_text(arm),
            str(arm.coverage.valid),
            _share(arm.coverage.share),
            *_headline(arm),
            f"{arm.steps.median:g}" if arm.steps else "-",
            str(arm.wasted_calls),
            "-" if arm.cost_usd is None else f"${arm.cost_usd:.2f}",
        )
    return table


def _arm_text(arm: ArmReport) -> Text:
    text = Text(arm.name.model)
    text.append(f"\n{arm.name.prompt} · {arm.name.label} · {arm.name.mode} · {arm.name.run[:8]}", style="dim")
    return text


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _headline(arm: ArmReport) -> tuple[str, str]:
    covered = arm.coverage
    if covered.headline_withheld:
        bounds = "-" if covered.low is None or covered.high is None else f"{covered.low:.0%}…{covered.high:.0%}"
        return "withheld", bounds
    first = next((point for point in arm.pass_at.points if point.k == 1), None)
    return ("N/A", "-") if first is None else (f"{first.value:.3f}", _interval(first))


def _interval(point: CurvePoint) -> str:
    return f"{point.low:.2f}–{point.high:.2f}"


def _curves(arms: Sequence[ArmReport], kind: str) -> Table:
    sign = "@" if kind == "at" else "^"
    meaning = "at least one of k passes" if kind == "at" else "all k pass"
    table = Table(box=None, pad_edge=False, title=f"pass{sign}k: {meaning}", title_justify="left", title_style="bold")
    table.add_column("#", justify="right")
    table.add_column("k", justify="right")
    table.add_column("")
    table.add_column("value", justify="right")
    table.add_column("95 %", justify="right")
    table.add_column("n ≥", justify="right")
    for i, arm in enumerate(arms, 1):
        _add_curve(table, i, arm, arm.pass_at if kind == "at" else arm.pass_hat)
    return table


def _add_curve(table: Table, number: int, arm: ArmReport, curve: Curve) -> None:
    fewest = min((one.valid for one in arm.scenarios), default=0)
    if not curve.points or arm.coverage.headline_withheld:
        table.add_row(str(number), "-", Text("withheld" if curve.points else "N/A", style="dim"), "", "", str(fewest))
        return
    for point in curve.points:
        bar = Text("█" * round(point.value * BAR), style="green" if not point.sparse else "yellow")
        bar.append("·" * (BAR - round(point.value * BAR)), style="dim")
        mark = "*" if point.sparse else " "
        label = str(number) if point.k == 1 else ""
        table.add_row(label, str(point.k), bar, f"{point.value:.3f}{mark}", _interval(point), str(fewest))
    if any(point.sparse for point in curve.points):
        table.caption = "* fewer than 2k attempts of some scenario: read with care"
        table.caption_justify = "left"


def _print_reasons(console: Console, number: int, arm: ArmReport) -> None:
    if not arm.reasons:
        return
    console.print(Text(f"{number}  {arm.name.model}, {arm.name.prompt}: why attempts did not pass", style="bold"))
    for one in arm.reasons[:SHOWN_REASONS]:
        console.print(Text(f"   {one.count:>4} × {one.reason[:90]}  e.g. {one.example[:12]}"))
    rest = sum(one.count for one in arm.reasons[SHOWN_REASONS:])
    if rest:
        console.print(Text(f"   {rest:>4} × other reasons", style="dim"))
