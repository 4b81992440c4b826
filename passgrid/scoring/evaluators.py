"""Evaluators of pydantic-evals as checks: the built-in ones by name, and a suite's own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from typing import Any, cast

import pydantic_evals.evaluators as built_in
from pydantic_evals.evaluators import EvaluationReason, EvaluatorContext
from pydantic_evals.evaluators import Evaluator as EvalsEvaluator
from pydantic_evals.otel.span_tree import SpanTree

from passgrid.conditions import Evaluator
from passgrid.json_values import is_object
from passgrid.scoring.evidence import Evidence
from passgrid.scoring.verdict import Verdict
from passgrid.sealing import sealed
from passgrid.suite_code import SuiteCode


def evaluated(wanted: Evaluator, evidence: Evidence, code: SuiteCode) -> Verdict:
    """What an evaluator says: its output is the agent's last message, its inputs the user turns.

    Raises `LookupError` for a name that is no evaluator, and what the evaluator raises.
    """
    kind = code.function(wanted.name) if ":" in wanted.name else getattr(built_in, wanted.name, None)
    if not (isinstance(kind, type) and issubclass(kind, EvalsEvaluator)):
        raise LookupError(f"{wanted.name} is no evaluator of pydantic-evals")
    evaluator = cast(EvalsEvaluator[Any, Any, Any], kind(**wanted.arguments))
    found = _without_a_loop(evaluator, _context(wanted, evidence))
    values = list(found.values()) if is_object(found) else [found]
    return _verdict(wanted, values)


def _context(wanted: Evaluator, evidence: Evidence) -> EvaluatorContext[Any, Any, Any]:
    users = [str(message["content"]) for message in evidence.messages if message["role"] == "user"]
    return EvaluatorContext(
        name=evidence.scenario.name,
        inputs="\n\n".join(users),
        metadata={"messages": evidence.messages},
        expected_output=wanted.expected_output,
        output=evidence.final_text,
        duration=evidence.duration_s,
        _span_tree=SpanTree(),
        attributes={},
        metrics={"tool_calls": len(evidence.tool_calls)},
    )


def _without_a_loop(evaluator: EvalsEvaluator[Any, Any, Any], context: EvaluatorContext[Any, Any, Any]) -> Any:
    """Evaluate in a thread: an attempt's own event loop runs here, and an evaluator may bring one.

    Sealed, live attempts' too: what an evaluator bought would be in no budget and in no recording.
    """

    async def evaluate() -> Any:
        return await evaluator.evaluate_async(context)

    with sealed():
        inside = contextvars.copy_context()
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(inside.run, asyncio.run, evaluate()).result()


def _verdict(wanted: Evaluator, values: list[Any]) -> Verdict:
    reasons: list[str] = []
    for value in values:
        reason = value.reason if isinstance(value, EvaluationReason) else None
        plain = value.value if isinstance(value, EvaluationReason) else value
        passed = _passed(wanted, plain)
        if passed is None:
            return None, f"it returned {plain!r}: say at_least which score it passes"
        if not passed:
            reasons.append(reason or f"it returned {plain!r}")
    return not reasons, "; ".join(reasons)


def _passed(wanted: Evaluator, value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and wanted.at_least is not None:
        return value >= wanted.at_least
    return None
