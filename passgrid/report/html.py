"""A report as one page that needs nothing else: no script, no network. What tools and models wrote is text in it."""

from __future__ import annotations

from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison
from passgrid.report.distribution import Distribution
from passgrid.report.page_charts import curve_chart
from passgrid.report.page_details import calls, differences, reasons, stages, steps
from passgrid.report.page_parts import key, mark, section, table, text
from passgrid.report.page_style import STYLE
from passgrid.report.report import Report
from passgrid.report.tool_use import ToolUses
from passgrid.report.words import (
    MEASURE_NAMES,
    NA,
    UNKNOWN,
    WITHHELD,
    advice_text,
    axes_text,
    bounds,
    change_text,
    comparison_text,
    headline,
    missing_text,
    percent,
    significance,
)
from passgrid.statistics import Curve, common_k

SHOWN_K = 10
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_TONES = {"better": "good", "pass": "good", "worse": "bad", "regression": "bad", "inconclusive": "unsure"}


def report_html(report: Report, tools: ToolUses) -> str:
    """The whole page."""
    sections = [
        _verdicts(report),
        _arms(report),
        _curves(report),
        differences(report),
        steps(report),
        stages(report),
        calls(report, tools),
        reasons(report),
    ]
    title = "Passgrid: " + ", ".join(dict.fromkeys(arm.name.label for arm in report.arms))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{text(title)}</h1>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>"
    )


def _verdicts(report: Report) -> str:
    found = [_verdict(report, pair) for pair in report.comparisons]
    if report.gate:
        lines = "".join(
            f"<li>{text(one.gate.text)}, {report.letter(one.comparison.candidate)} against "
            f"{report.letter(one.comparison.baseline)}: {one.verdict.verdict}: {text(one.verdict.reason)}</li>"
            for one in report.judged
        )
        tone = _TONES[report.gate]
        found.insert(0, f'<div class="verdict {tone}"><p class="{tone}">Gate: {report.gate}</p><ul>{lines}</ul></div>')
    found += [f'<p class="unsure">Not compared: {text(one)}</p>' for one in report.unmatched]
    return "\n".join(found)


def _verdict(report: Report, pair: ArmComparison) -> str:
    baseline, candidate = report.letter(pair.baseline), report.letter(pair.candidate)
    lines = [f"{candidate} against {baseline}: {comparison_text(pair, baseline, candidate)}"]
    if not pair.withheld:
        lines += [axes_text(pair), significance(pair), *missing_text(pair, baseline, candidate)]
        lines += [f"{MEASURE_NAMES[name]}: {change_text(change, name)}" for name, change in pair.changes.items()]
        if pair.finding == "no difference shown" and pair.advice is not None:
            lines.append(advice_text(pair.advice))
    paragraphs = "".join(f"<p>{text(line)}</p>" for line in lines)
    return f'<div class="verdict {_TONES.get(pair.finding, "unsure")}">{paragraphs}</div>'


def _arms(report: Report) -> str:
    rows: list[list[str]] = []
    for arm in report.arms:
        name = arm.name
        run = text(f"{name.run[:8]} {name.label} {name.mode}")
        run += f"<small>imported from {text(name.imported_from)}</small>" if name.imported_from else ""
        unusual = {"target": "default", "fault": "none", "mitigation": "none", "agent": "default"}
        others = [f"{axis} {getattr(name, axis)}" for axis, usual in unusual.items() if getattr(name, axis) != usual]
        rows.append(
            [
                key(mark(report, arm)), text(name.model), text(", ".join([name.prompt, *others])), run,
                str(len(arm.scenarios)), f"{arm.passed} of {arm.coverage.valid}",
                f"{percent(arm.coverage.share)} of {arm.coverage.wanted}", _spread(arm.steps, "g"),
                _spread(arm.duration_s, ".2f"), _spread(arm.tokens, ",g"),
                UNKNOWN if arm.cost_usd is None else f"${arm.cost_usd:,.2f}", f"{arm.wasted_calls:,}",
            ]
        )  # fmt: skip
    columns = [
        "", "model", "prompt", "run", "scenarios", "passed of n", "coverage", "steps", "seconds", "tokens", "cost",
        "wasted calls",
    ]  # fmt: skip
    caption = "n is the number of valid attempts. Steps, seconds and tokens: median / 90th percentile / maximum."
    return section("Arms", table(caption, columns, rows, words=4))


def _spread(found: Distribution | None, form: str) -> str:
    return UNKNOWN if found is None else " / ".join(format(one, form) for one in (found.median, found.p90, found.max))


def _curves(report: Report) -> str:
    shown = [arm for arm in report.arms if not arm.coverage.headline_withheld]
    most_k = common_k([[one.tally for one in arm.scenarios] for arm in shown])
    charts: list[str] = []
    for name, curves in (
        ("pass@k", [(mark(report, arm), arm.pass_at) for arm in shown]),
        ("pass^k", [(mark(report, arm), arm.pass_hat) for arm in shown]),
    ):
        if most_k:
            caption = f"{name}, up to the smallest n of the arms shown ({most_k}); bands are of 95 %"
            charts.append(f"<figure>{curve_chart(name, curves, most_k)}<figcaption>{caption}</figcaption></figure>")
    withheld = [arm for arm in report.arms if arm.coverage.headline_withheld]
    notes = [f'<p class="bad">{report.letter(arm)}: {text(headline(arm))}</p>' for arm in withheld]
    notes += [f'<p class="bad">{WITHHELD}</p>'] if withheld else []
    most = min(SHOWN_K, max((arm.most_wanted for arm in report.arms), default=1) or 1)
    columns = ["", "figure", "n", "coverage", *(f"k = {k}" for k in range(1, most + 1))]
    rows = [
        _curve_row(report, arm, sign, curve, most)
        for arm in report.arms
        for sign, curve in (("pass@k", arm.pass_at), ("pass^k", arm.pass_hat))
    ]
    numbers = table("Means over scenarios with intervals of 95 %; * fewer than 2k attempts", columns, rows, words=2)
    return section("pass@k and pass^k", f'<div class="charts">{"".join(charts)}</div>{"".join(notes)}{numbers}')


def _curve_row(report: Report, arm: ArmReport, sign: str, curve: Curve, most: int) -> list[str]:
    row = [key(mark(report, arm)), sign, str(arm.coverage.valid), percent(arm.coverage.share)]
    found = {point.k: point for point in curve.points}
    for k in range(1, most + 1):
        if k not in found:
            row.append(NA)
        elif arm.coverage.headline_withheld:
            row.append(f"withheld<small>{bounds(arm.coverage)}</small>" if k == 1 else "withheld")
        else:
            point = found[k]
            row.append(f"{point.value:.3f}{'*' if point.sparse else ''}<small>{point.low:.2f}–{point.high:.2f}</small>")
    return row
