"""Results files of xplainable's evals, made up, of every generation."""

from __future__ import annotations

from typing import Any

from passgrid.importers.xplainable import STAGES

STATUS = "get_autotrain_status"
_OTHERS = (
    "datasets_list",
    "preprocessing_add",
    "models_train",
    "deployments_create",
    "inference_predict",
    "optimisers_run",
)
_DETECTORS = ("degenerate_prescriptions", "zero_cost_prescriptions", "immutable_drift", "saturated_probabilities")


def case(name: str, missed: tuple[str, ...] = (), calls: list[dict[str, Any]] | None = None, **more: Any) -> Any:
    """One case of the newest generation, passed but for the stages missed."""
    calls = calls or []
    return {
        "name": name,
        "assertions": {
            **{stage: stage not in missed for stage in STAGES},
            "completed": True,
            **dict.fromkeys(_DETECTORS, False),
        },
        "scores": {"step_count": len(calls), "wasted_calls": sum(call["error"] for call in calls)},
        "labels": {},
        "duration": 61.5,
        "error": None,
        "usage_limit_hit": False,
        "tool_calls": calls,
        "usage": {"input_tokens": 1000, "output_tokens": 50, "cost_usd": None},
    } | more


def results(cases: list[Any], k: int = 4, model: str = "anthropic:claude-sonnet-4-6", **config: Any) -> dict[str, Any]:
    """One file."""
    return {
        "label": "baseline",
        "timestamp": "2026-06-10T10:00:00+00:00",
        "config": {"model": model, "prompt_id": "default", "target": "local", "k": k, **config},
        "git": {"mcp_server": "unknown", "xplainable_client": "1.4.0"},
        "leftovers": [],
        "cases": cases,
    }


def published_run() -> dict[str, Any]:
    """Four attempts at ten stages, `report` never reached; 240 calls, 103 to a status tool, 57 in vain; $8.26."""
    cases: list[Any] = []
    for i, (polled, wasted, cost) in enumerate(((26, 15, 2.05), (26, 14, 2.07), (26, 14, 2.06), (25, 14, 2.08))):
        calls: list[dict[str, Any]] = [_call(_OTHERS[n % len(_OTHERS)]) for n in range(60 - polled)]
        calls += [_call(STATUS, error=n < wasted) for n in range(polled)]
        usage = {"input_tokens": 500_000, "output_tokens": 9_000, "cost_usd": cost}
        cases.append(case(f"telco_churn[{i}]", ("report",), calls, usage=usage))
    return results(cases)


def _call(name: str, *, error: bool = False) -> dict[str, Any]:
    text = "[E404] not there yet — Suggestion: wait" if error else None
    return {"name": name, "error": error, "error_text": text}


def older(file: dict[str, Any], generation: int) -> dict[str, Any]:
    """The same file as an older generation wrote it: 2 without usage, 3 without error texts, 4 without diagnostics."""
    gone = {2: {"usage"}, 3: {"usage"}, 4: {"usage", "error", "usage_limit_hit", "tool_calls"}}.get(
        generation, set[str]()
    )
    cases: list[Any] = []
    for one in file["cases"]:
        kept = {name: value for name, value in one.items() if name not in gone}
        if generation == 3:
            kept["tool_calls"] = [{"name": call["name"], "error": call["error"]} for call in kept["tool_calls"]]
        cases.append(kept)
    return file | {"cases": cases}
