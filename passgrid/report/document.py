"""A report as the JSON document of `passgrid report --json` (design: command line). N/A is null."""

from __future__ import annotations

from typing import Any

from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison
from passgrid.report.distribution import Distribution
from passgrid.report.facts import ArmName
from passgrid.report.gates import Judged
from passgrid.report.report import Report
from passgrid.report.words import advice_text, comparison_text
from passgrid.statistics import Advice, Curve, PairedChange


def report_document(report: Report) -> dict[str, Any]:
    """The whole document. `gate` is null where none was asked."""
    return {
        "runs": list(report.runs),
        "arms": [arm_document(arm) for arm in report.arms],
        "comparisons": [_comparison(report, pair) for pair in report.comparisons],
        "not_compared": list(report.unmatched),
        "gate": {"verdict": report.gate, "gates": [_judged(report, one) for one in report.judged]}
        if report.gated
        else None,
    }


def arm_document(arm: ArmReport) -> dict[str, Any]:
    """One arm. Its curves have a value for each k that was wanted, N/A where some scenario has too few valid."""
    name = arm.name
    return {
        "run": name.run,
        "label": name.label,
        "mode": name.mode,
        "model": name.model,
        "prompt": name.prompt,
        "target": name.target,
        "fault": name.fault,
        "mitigation": name.mitigation,
        "agent": name.agent,
        "imported_from": name.imported_from,
        "scenarios": len(arm.scenarios),
        "wanted": arm.coverage.wanted,
        "valid": arm.coverage.valid,
        "coverage": arm.coverage.share,
        "bounds": [arm.coverage.low, arm.coverage.high],
        "headline_withheld": arm.coverage.headline_withheld,
        "passed": arm.passed,
        "pass_at": _values(arm.pass_at, arm.most_wanted),
        "pass_hat": _values(arm.pass_hat, arm.most_wanted),
        "pass_at_interval": _intervals(arm.pass_at, arm.most_wanted),
        "pass_hat_interval": _intervals(arm.pass_hat, arm.most_wanted),
        "tool_calls": arm.tool_calls,
        "model_turns": arm.model_turns,
        "steps": _distribution(arm.steps),
        "wasted_calls": arm.wasted_calls,
        "duration_s": _distribution(arm.duration_s),
        "working_s": _distribution(arm.working_s),
        "recovered_errors": dict(zip(("structured", "opaque"), arm.recovered, strict=True)),
        "leftovers": arm.leftovers,
        "tokens": _distribution(arm.tokens),
        "cost_usd": arm.cost_usd,
        "stages": {stage: {"passed": passed, "of": of} for stage, (passed, of) in arm.stages.items()},
        "flags": dict(arm.flags),
        "outcomes": dict(arm.outcomes),
        "reasons": [{"reason": one.reason, "count": one.count, "example": one.example} for one in arm.reasons],
        "answers": dict(arm.answers),
    }


def _values(curve: Curve, most: int) -> dict[str, float | None]:
    values = {point.k: point.value for point in curve.points}
    return {str(k): values.get(k) for k in range(1, most + 1)}


def _intervals(curve: Curve, most: int) -> dict[str, list[float] | None]:
    intervals = {point.k: [point.low, point.high] for point in curve.points}
    return {str(k): intervals.get(k) for k in range(1, most + 1)}


def _distribution(found: Distribution | None) -> dict[str, float] | None:
    return None if found is None else {"median": found.median, "p90": found.p90, "max": found.max}


def _comparison(report: Report, pair: ArmComparison) -> dict[str, Any]:
    difference, interval = pair.difference, pair.difference.interval
    baseline, candidate = report.letter(pair.baseline), report.letter(pair.candidate)
    return {
        "baseline": _name(pair.baseline.name),
        "candidate": _name(pair.candidate.name),
        "differs_in": {axis: [before, after] for axis, before, after in pair.differing},
        "scenarios": len(difference.scenarios),
        "missing_in_baseline": list(difference.missing_in_baseline),
        "missing_in_candidate": list(difference.missing_in_candidate),
        "coverage": [pair.baseline.coverage.share, pair.candidate.coverage.share],
        "headline_withheld": pair.withheld,
        "finding": pair.finding,
        "verdict": comparison_text(pair, baseline, candidate),
        "pass": {
            "difference": difference.mean,
            "interval": None if interval is None else [interval.low, interval.high],
            "method": None if interval is None else interval.method,
            "p": difference.p_value,
            "p_exact": difference.p_exact,
            "p_holm": pair.adjusted_p,
            "p_mcnemar": pair.mcnemar_p,
            "better": difference.wins,
            "worse": difference.losses,
            "equal": difference.ties,
        },
        **{measure: _change(change) for measure, change in pair.changes.items()},
        "advice": None if pair.advice is None else _advice(pair.advice),
    }


def _name(name: ArmName) -> dict[str, Any]:
    axes = ("run", "label", "model", "prompt", "target", "fault", "mitigation", "agent", "imported_from")
    return {axis: getattr(name, axis) for axis in axes}


def _change(change: PairedChange) -> dict[str, Any] | None:
    """None: unknown in every scenario that both arms have."""
    if change.mean is None:
        return None
    return {
        "scenarios": len(change.scenarios),
        "baseline": change.baseline,
        "candidate": change.candidate,
        "difference": change.mean,
        "interval": None if change.interval is None else list(change.interval),
        "p": change.p_value,
    }


def _advice(advice: Advice) -> dict[str, Any]:
    return {
        "delta": advice.delta,
        "scenarios_needed": advice.scenarios_needed,
        "attempts_needed": advice.attempts_needed,
        "text": advice_text(advice),
    }


def _judged(report: Report, one: Judged) -> dict[str, Any]:
    return {
        "gate": one.gate.text,
        "margin": one.gate.margin,
        "baseline": _name(one.comparison.baseline.name),
        "candidate": _name(one.comparison.candidate.name),
        "arms": [report.letter(one.comparison.baseline), report.letter(one.comparison.candidate)],
        "verdict": one.verdict.verdict,
        "reason": one.verdict.reason,
    }
