"""The lower part of a report's page: scenario by scenario, steps, stages, calls, and why attempts did not pass."""

from __future__ import annotations

from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison, pass_rates
from passgrid.report.page_charts import bar_chart, difference_chart, histogram
from passgrid.report.page_parts import key, mark, section, table, text
from passgrid.report.report import Report
from passgrid.report.tool_use import ToolUse, ToolUses
from passgrid.report.words import NA, headline, percent, points

SHOWN_REASONS = 10
SHOWN_SCENARIOS = 60
SHOWN_TOOLS = 15


def differences(report: Report) -> str:
    """Each comparison, scenario by scenario."""
    shown = [pair for pair in report.comparisons if not pair.withheld and pair.difference.scenarios]
    return "".join(_difference(report, pair) for pair in shown)


def _difference(report: Report, pair: ArmComparison) -> str:
    before, after = pass_rates(pair.baseline), pass_rates(pair.candidate)
    rates = [(name, before[name] or 0.0, after[name] or 0.0) for name in pair.difference.scenarios]
    ordered = sorted(rates, key=lambda row: (row[2] - row[1], row[0]))
    baseline, candidate = mark(report, pair.baseline), mark(report, pair.candidate)
    of_baseline, of_candidate = _counts(pair.baseline), _counts(pair.candidate)
    rows = [[text(name), of_baseline[name], of_candidate[name], points(b - a)] for name, a, b in ordered]
    numbers = table(
        "Passed of valid attempts", ["scenario", baseline.letter, candidate.letter, "points"], rows, words=1
    )
    half = SHOWN_SCENARIOS // 2
    ends = ordered if len(ordered) <= SHOWN_SCENARIOS else ordered[:half] + ordered[-half:]
    shown = "" if len(ends) == len(ordered) else f"; the {len(ends)} that differ most of {len(ordered)}"
    chart = difference_chart([(name, b - a) for name, a, b in ends])
    caption = f"Pass rate of {candidate.letter} minus that of {baseline.letter}, in points{shown}"
    figure = f"<figure>{chart}<figcaption>{caption}</figcaption></figure>"
    details = f"<details><summary>All {len(ordered)} scenarios</summary>{numbers}</details>"
    return section(f"{candidate.letter} against {baseline.letter}, scenario by scenario", figure + details)


def _counts(arm: ArmReport) -> dict[str, str]:
    return {one.key: f"{one.passed}/{one.valid}" for one in arm.scenarios}


def steps(report: Report) -> str:
    """The histogram of steps."""
    chart = histogram([(mark(report, arm), arm.step_counts) for arm in report.arms if arm.step_counts])
    if not chart:
        return ""
    keys = ", ".join(f"{key(mark(report, arm))} n = {arm.coverage.valid}" for arm in report.arms)
    caption = f"Tool calls of an attempt, errored ones included, as shares of valid attempts: {keys}"
    return section("Steps", f"<figure>{chart}<figcaption>{caption}</figcaption></figure>")


def stages(report: Report) -> str:
    """The profile of stages; nothing where no scenario expects any."""
    names = list(dict.fromkeys(stage for arm in report.arms for stage in arm.stages))
    if not names:
        return ""
    rows = [[text(name), *(_stage(arm, name) for arm in report.arms)] for name in names]
    bars = [
        (name, [(mark(report, arm), _percent(arm, name)) for arm in report.arms if name in arm.stages])
        for name in names
    ]
    chart = bar_chart("Stages reached, in percent of the attempts that expect them", bars, ".0f")
    numbers = table(
        "Reached of expected, over valid attempts", ["stage", *map(report.letter, report.arms)], rows, words=1
    )
    return section("Stages", f'<div class="charts"><figure>{chart}</figure>{numbers}</div>')


def _percent(arm: ArmReport, name: str) -> float:
    reached, of = arm.stages[name]
    return 100 * reached / of


def _stage(arm: ArmReport, name: str) -> str:
    if name not in arm.stages:
        return NA
    reached, of = arm.stages[name]
    return f"{reached}/{of}<small>{percent(reached / of)}</small>"


def calls(report: Report, tools: ToolUses) -> str:
    """Calls by tool; nothing where there were none."""
    found = {arm.name: {one.tool: one for one in tools.get(arm.name, ())} for arm in report.arms}
    totals: dict[str, int] = {}
    for of_arm in found.values():
        for one in of_arm.values():
            totals[one.tool] = totals.get(one.tool, 0) + one.calls
    if not totals:
        return ""
    names = sorted(totals, key=lambda tool: (-totals[tool], tool))
    bars = [
        (tool, [(mark(report, arm), found[arm.name][tool].calls) for arm in report.arms if tool in found[arm.name]])
        for tool in names[:SHOWN_TOOLS]
    ]
    rows = [[text(tool), *(_tool_cell(found[arm.name].get(tool)) for arm in report.arms)] for tool in names]
    chart = bar_chart("Calls by tool", bars, ",")
    numbers = table("Calls, and how many ended in an error", ["tool", *map(report.letter, report.arms)], rows, words=1)
    return section("Tool calls", f'<div class="charts"><figure>{chart}</figure>{numbers}</div>')


def _tool_cell(one: ToolUse | None) -> str:
    return f"{one.calls:,}<small>{one.errors:,} errors</small>" if one else "0"


def reasons(report: Report) -> str:
    """Why attempts did not pass, by arm."""
    parts: list[str] = []
    for arm in report.arms:
        if arm.flags:
            found = ", ".join(f"{count} × {name}" for name, count in arm.flags.items())
            parts.append(
                f'<p class="unsure">{report.letter(arm)} looks like a success and may be none: {text(found)}</p>'
            )
        if not arm.reasons:
            continue
        rows = [[str(one.count), text(one.reason), text(one.example[:12])] for one in arm.reasons[:SHOWN_REASONS]]
        rest = sum(one.count for one in arm.reasons[SHOWN_REASONS:])
        rows += [[str(rest), "other reasons", ""]] if rest else []
        caption = f"{report.letter(arm)}: {text(headline(arm))}"
        parts.append(table(caption, ["attempts", "reason", "such as"], rows, words=3))
    return section("Why attempts did not pass", "".join(parts)) if parts else ""
