"""A report as the JSON document of `passgrid report --json` (design: command line). N/A is null."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passgrid.report.arms import ArmReport
from passgrid.report.distribution import Distribution
from passgrid.statistics import Curve


def report_document(runs: Sequence[str], arms: Sequence[ArmReport]) -> dict[str, Any]:
    """The whole document; arms are compared with a baseline elsewhere."""
    return {"runs": list(runs), "arms": [arm_document(arm) for arm in arms], "comparisons": []}


def arm_document(arm: ArmReport) -> dict[str, Any]:
    """One arm. Its curves have a value for each k that was wanted, N/A where some scenario has too few valid."""
    name = arm.name
    most = max((one.wanted for one in arm.scenarios), default=0)
    return {
        "run": name.run,
        "label": name.label,
        "mode": name.mode,
        "model": name.model,
        "prompt": name.prompt,
        "target": name.target,
        "fault": name.fault,
        "mitigation": name.mitigation,
        "imported_from": name.imported_from,
        "scenarios": len(arm.scenarios),
        "wanted": arm.coverage.wanted,
        "valid": arm.coverage.valid,
        "coverage": arm.coverage.share,
        "passed": arm.passed,
        "pass_at": _values(arm.pass_at, most),
        "pass_hat": _values(arm.pass_hat, most),
        "pass_at_interval": _intervals(arm.pass_at, most),
        "pass_hat_interval": _intervals(arm.pass_hat, most),
        "tool_calls": arm.tool_calls,
        "model_turns": arm.model_turns,
        "steps": _distribution(arm.steps),
        "wasted_calls": arm.wasted_calls,
        "duration_s": _distribution(arm.duration_s),
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
