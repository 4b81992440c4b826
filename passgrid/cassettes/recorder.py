"""A plain recorder: from a finished live attempt to its cassette."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.cassettes.format import COMPLETED_ENDING, LIMIT_ENDING, Step
from passgrid.messages import call_arguments, library_kind, plain_content, user_content
from passgrid.meter import Meter
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.storable import storable_text
from passgrid.transcript import ModelCallRecord, ToolCallRecord


def recorded_steps(messages: Sequence[ModelMessage], meter: Meter) -> tuple[Step, ...]:
    """The steps of a conversation, with what the meter knows of each model turn and call."""
    return tuple(_steps(messages, meter))


def recorded_ending(outcome: Outcome) -> dict[str, Any] | None:
    """How a recording ends; None for an attempt that is no recording of anything: an error, or a cancelled one."""
    if outcome.kind is OutcomeKind.LIMIT:
        return {"outcome": LIMIT_ENDING, "limit": outcome.detail}
    return {"outcome": COMPLETED_ENDING} if outcome.valid else None


def _steps(messages: Sequence[ModelMessage], meter: Meter) -> Iterator[Step]:
    turn = 0
    asked: list[ToolCallPart] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            turn += 1
            asked = [part for part in message.parts if isinstance(part, ToolCallPart)]
            metered = meter.model_calls[turn - 1] if turn <= len(meter.model_calls) else None
            yield {"model": _model_turn(message, metered)}
        else:
            journal = [call for call in meter.tool_calls if call.turn == turn]
            yield from _request_steps(message, asked, journal)


def _request_steps(message: ModelRequest, asked: list[ToolCallPart], journal: list[ToolCallRecord]) -> Iterator[Step]:
    calls: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            calls.append(_call(part, asked, journal))
        elif isinstance(part, UserPromptPart):
            yield {"user": user_content(part)}
        elif isinstance(part, RetryFeedbackPart):
            yield {"feedback": part.retry.cause}
    if calls:
        if len(calls) == 1:
            calls[0].pop("answered", None)
        yield {"calls": calls}


def _call(part: ToolReturnPart[Any], asked: list[ToolCallPart], journal: list[ToolCallRecord]) -> dict[str, Any]:
    position = next(i for i, call in enumerate(asked) if call.tool_call_id == part.tool_call_id)
    kind = library_kind(part)
    if kind is not None:
        return {"call": position, "library": kind}
    # The n-th call of this tool in the turn is the n-th journal row of this tool.
    before = sum(call.tool_name == part.tool_name for call in asked[:position])
    rows = [row for row in sorted(journal, key=lambda row: row.asked) if row.tool == part.tool_name]
    row = rows[before] if before < len(rows) else None
    answer: dict[str, Any] = {"call": position}
    if row is not None:
        answer["server"] = row.server
    answer["error" if part.outcome == "failed" else "result"] = plain_content(part.content)
    if row is not None and row.answered_at is not None:
        first = min(other.answered_at for other in journal if other.answered_at is not None)
        answer |= {"answered": row.answered_at - first, "ms": row.duration_ms}
    return answer


def _model_turn(message: ModelResponse, metered: ModelCallRecord | None) -> dict[str, Any]:
    turn: dict[str, Any] = {"parts": [_part(part) for part in message.parts]}
    if metered is None:
        return turn
    counts = {
        "input": metered.input_tokens,
        "output": metered.output_tokens,
        "cache_read": metered.cache_read_tokens,
        "cache_write": metered.cache_write_tokens,
    }
    known = {name: count for name, count in counts.items() if count is not None}
    facts = {
        "usage": known or None,
        "served": metered.served_model,
        "finish": metered.finish_reason,
        "cost_usd": metered.cost_usd,
        "ms": metered.duration_ms,
    }
    return turn | {name: value for name, value in facts.items() if value is not None}


def _part(part: ModelResponsePart) -> dict[str, Any]:
    if isinstance(part, ToolCallPart):
        return {"call": part.tool_name, "id": part.tool_call_id, "args": call_arguments(part)}
    if isinstance(part, TextPart):
        return {"text": storable_text(part.content)}
    if isinstance(part, ThinkingPart):
        signed = {"signature": part.signature} if part.signature else {}
        return {"thinking": storable_text(part.content), **signed}
    if isinstance(part, FilePart):
        return {"image": part.content.data_uri, "media_type": part.content.media_type}
    raise ValueError(f"a {type(part).__name__} of a model cannot be recorded yet")
