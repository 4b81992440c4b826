"""A report as markdown for a pull request. Its first line is a hidden mark by which the comment is found again, and
edited rather than repeated."""

from __future__ import annotations

import re
from collections.abc import Sequence

from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison
from passgrid.report.distribution import Distribution
from passgrid.report.report import Report
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
from passgrid.statistics import Curve, Verdict

MARK = "<!-- passgrid-report -->"
MOST_ARMS = 40
"""Beyond that a comment would be too long to be taken."""
SHOWN_K = 5
SHOWN_REASONS = 4
LONGEST = 160
"""Characters of a name or reason."""

_TITLES: dict[Verdict | None, str] = {
    "pass": "✅ Passgrid: the gate is passed",
    "regression": "❌ Passgrid: a regression",
    "inconclusive": "⚠️ Passgrid: inconclusive",
    None: "Passgrid",
}
_MARKUP = re.compile(r"[\\`*_{}\[\]()#!|~<>&]")
_LINKS = re.compile(r"(@|://|\bwww\.)")
_JOINER = "\u2060"


def report_markdown(report: Report) -> str:
    """The whole comment."""
    arms = report.arms[:MOST_ARMS]
    blocks = [f"{MARK}\n### {_TITLES[report.gate]}", *_gates(report), *_comparisons(report), _rates(report, arms)]
    if any(arm.coverage.headline_withheld for arm in arms):
        blocks.append(f"**{WITHHELD}**")
    blocks += [
        "n is the number of valid attempts; intervals are of 95 %; infra errors are no failures.",
        _use(report, arms),
    ]
    blocks += [_flags(report, arm) for arm in arms if arm.flags]
    blocks += [_reasons(report, arm) for arm in arms if arm.reasons]
    if len(report.arms) > MOST_ARMS:
        blocks.append(f"{len(report.arms) - MOST_ARMS} more arms are not shown.")
    return "\n\n".join(block for block in blocks if block)


def safe(text: str) -> str:
    """What a tool, a model or a person wrote, as plain text: nothing in it is markup, a mention or a link."""
    line = " ".join(text.split())
    line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
    line = _LINKS.sub(lambda found: f"{found[0][0]}{_JOINER}{found[0][1:]}", line)
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", line)


def _gates(report: Report) -> list[str]:
    lines = [
        f"- `{one.gate.text}` {report.letter(one.comparison.candidate)} against "
        f"{report.letter(one.comparison.baseline)}: **{one.verdict.verdict}**, {one.verdict.reason}"
        for one in report.judged[:MOST_ARMS]
    ]
    return ["\n".join(lines)] if lines else []


def _comparisons(report: Report) -> list[str]:
    found = [_comparison(report, pair) for pair in report.comparisons[:MOST_ARMS]]
    return [*found, *[f"Not compared: {safe(text)}" for text in report.unmatched[:MOST_ARMS]]]


def _comparison(report: Report, pair: ArmComparison) -> str:
    baseline, candidate = report.letter(pair.baseline), report.letter(pair.candidate)
    lines = [f"**{candidate} against {baseline}:** {comparison_text(pair, baseline, candidate)}"]
    if pair.withheld:
        return lines[0]
    lines += [f"- {safe(axes_text(pair))}", f"- {significance(pair)}"]
    lines += [f"- {safe(text)}" for text in missing_text(pair, baseline, candidate)]
    lines += [f"- {MEASURE_NAMES[measure]}: {change_text(change, measure)}" for measure, change in pair.changes.items()]
    if pair.finding == "no difference shown" and pair.advice is not None:
        lines.append(f"- {advice_text(pair.advice)}")
    return "\n".join(lines)


def _rates(report: Report, arms: Sequence[ArmReport]) -> str:
    most = min(SHOWN_K, max((arm.most_wanted for arm in arms), default=1) or 1)
    columns = ["", "model", "prompt", "run", "scenarios", "passed of n", "coverage"]
    columns += [f"pass@{k}" for k in range(1, most + 1)] + [f"pass^{k}" for k in range(2, most + 1)]
    return _table(columns, [_rates_row(report, arm, most) for arm in arms])


def _rates_row(report: Report, arm: ArmReport, most: int) -> list[str]:
    name, covered = arm.name, arm.coverage
    run = f"<code>{safe(name.run[:8])}</code> {safe(name.label)}"
    run += f", imported ({safe(name.imported_from)})" if name.imported_from else ""
    row = [report.letter(arm), f"<code>{safe(name.model)}</code>", safe(name.prompt), run, str(len(arm.scenarios))]
    row += [f"{arm.passed} of {covered.valid}", f"{percent(covered.share)} of {covered.wanted}"]
    if covered.headline_withheld:
        return row + [f"withheld, {bounds(covered)}"] + [NA if k > _fewest(arm) else "withheld" for k in _others(most)]
    return row + _values(arm.pass_at, range(1, most + 1)) + _values(arm.pass_hat, range(2, most + 1))


def _others(most: int) -> list[int]:
    return [*range(2, most + 1), *range(2, most + 1)]


def _fewest(arm: ArmReport) -> int:
    return min((one.valid for one in arm.scenarios), default=0)


def _values(curve: Curve, ks: range) -> list[str]:
    points = {point.k: point for point in curve.points}
    return [
        f"{points[k].value:.3f}<br><sub>{points[k].low:.2f}–{points[k].high:.2f}</sub>" if k in points else NA
        for k in ks
    ]


def _use(report: Report, arms: Sequence[ArmReport]) -> str:
    columns = ["", "steps", "seconds", "tokens", "cost", "calls", "wasted", "n"]
    rows = [
        [
            report.letter(arm),
            _spread(arm.steps, "g"),
            _spread(arm.duration_s, ".2f"),
            _spread(arm.tokens, ",g"),
            UNKNOWN if arm.cost_usd is None else f"${arm.cost_usd:,.2f}",
            f"{arm.tool_calls:,}",
            f"{arm.wasted_calls:,}",
            str(arm.coverage.valid),
        ]
        for arm in arms
    ]
    summary = "What attempts used: median / 90th percentile / maximum"
    return f"<details><summary>{summary}</summary>\n\n{_table(columns, rows)}\n\n</details>"


def _spread(found: Distribution | None, form: str) -> str:
    return UNKNOWN if found is None else " / ".join(format(one, form) for one in (found.median, found.p90, found.max))


def _flags(report: Report, arm: ArmReport) -> str:
    found = ", ".join(f"{count} × {safe(name)}" for name, count in arm.flags.items())
    return f"{report.letter(arm)} looks like a success and may be none: {found}"


def _reasons(report: Report, arm: ArmReport) -> str:
    lines = [f"- {one.count} × <code>{safe(one.reason)}</code>" for one in arm.reasons[:SHOWN_REASONS]]
    rest = sum(one.count for one in arm.reasons[SHOWN_REASONS:])
    lines += [f"- {rest} × other reasons"] if rest else []
    summary = f"Why attempts of {report.letter(arm)} did not pass ({headline(arm)})"
    return f"<details><summary>{summary}</summary>\n\n" + "\n".join(lines) + "\n\n</details>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
