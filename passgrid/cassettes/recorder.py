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


def recorded_steps(messages: Sequence[ModelMessage], meter: Meter) -> tuple[tuple[Step, ...], dict[str, Any]]:
    """The steps of a conversation, with what the meter knows of each model turn and call; and how long they took.

    Providers give every call an id that is new each time: here they are numbered, so that only what changed differs.
    """
    recorder = _Recorder(meter)
    return tuple(recorder.steps(messages)), {"model": recorder.model_ms, "calls": recorder.calls_ms}


def recorded_ending(outcome: Outcome) -> dict[str, Any] | None:
    """How a recording ends; None for an attempt that is no recording of anything: an error, or a cancelled one."""
    if outcome.kind is OutcomeKind.LIMIT:
        return {"outcome": LIMIT_ENDING, "limit": outcome.detail}
    return {"outcome": COMPLETED_ENDING} if outcome.valid else None


class _Recorder:
    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._called = 0
        self.model_ms: list[float | None] = []
        self.calls_ms: list[list[float | None]] = []

    def steps(self, messages: Sequence[ModelMessage]) -> Iterator[Step]:
        """Every step in order."""
        turn = 0
        asked: list[ToolCallPart] = []
        for message in messages:
            if isinstance(message, ModelResponse):
                turn += 1
                asked = [part for part in message.parts if isinstance(part, ToolCallPart)]
                metered = self._meter.model_calls[turn - 1] if turn <= len(self._meter.model_calls) else None
                self.model_ms.append(metered.duration_ms if metered else None)
                yield {"model": {"parts": [self._part(part) for part in message.parts], **turn_facts(metered)}}
            else:
                journal = [call for call in self._meter.tool_calls if call.turn == turn]
                yield from self._request_steps(message, asked, journal)

    def _part(self, part: ModelResponsePart) -> dict[str, Any]:
        if isinstance(part, ToolCallPart):
            self._called += 1
            return {"call": part.tool_name, "id": f"call_{self._called}", "args": call_arguments(part)}
        return recorded_part(part)

    def _request_steps(
        self, message: ModelRequest, asked: list[ToolCallPart], journal: list[ToolCallRecord]
    ) -> Iterator[Step]:
        calls: list[dict[str, Any]] = []
        took: list[float | None] = []
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                row = _row(part, asked, journal)
                calls.append(_call(part, asked, row, journal))
                took.append(row.duration_ms if row else None)
            elif isinstance(part, UserPromptPart):
                yield {"user": user_content(part)}
            elif isinstance(part, RetryFeedbackPart):
                yield {"feedback": part.retry.cause}
        if calls:
            if len(calls) == 1:
                calls[0].pop("answered", None)
            self.calls_ms.append(took)
            yield {"calls": calls}


def _position(part: ToolReturnPart[Any], asked: list[ToolCallPart]) -> int:
    return next(i for i, call in enumerate(asked) if call.tool_call_id == part.tool_call_id)


def _row(part: ToolReturnPart[Any], asked: list[ToolCallPart], journal: list[ToolCallRecord]) -> ToolCallRecord | None:
    """The journal row of an answer: the n-th call of this tool in the turn is the n-th row of this tool."""
    if library_kind(part) is not None:
        return None
    before = sum(call.tool_name == part.tool_name for call in asked[: _position(part, asked)])
    rows = [row for row in sorted(journal, key=lambda row: row.asked) if row.tool == part.tool_name]
    return rows[before] if before < len(rows) else None


def _call(
    part: ToolReturnPart[Any], asked: list[ToolCallPart], row: ToolCallRecord | None, journal: list[ToolCallRecord]
) -> dict[str, Any]:
    answer: dict[str, Any] = {"call": _position(part, asked)}
    if (kind := library_kind(part)) is not None:
        return {**answer, "library": kind}
    if row is not None:
        answer["server"] = row.server
    answer["error" if part.outcome == "failed" else "result"] = plain_content(part.content)
    if row is not None and row.answered_at is not None:
        first = min(other.answered_at for other in journal if other.answered_at is not None)
        answer["answered"] = row.answered_at - first
    return answer


def turn_facts(metered: ModelCallRecord | None) -> dict[str, Any]:
    """What is known of a model turn besides what it says."""
    if metered is None:
        return {}
    counts = {
        "input": metered.input_tokens,
        "output": metered.output_tokens,
        "cache_read": metered.cache_read_tokens,
        "cache_write": metered.cache_write_tokens,
    }
    facts = {
        "usage": {name: count for name, count in counts.items() if count is not None} or None,
        "served": metered.served_model,
        "finish": metered.finish_reason,
        "cost_usd": metered.cost_usd,
    }
    return {name: value for name, value in facts.items() if value is not None}


def recorded_part(part: ModelResponsePart) -> dict[str, Any]:
    """A part of a model turn that is no call. Raises `ValueError` for one that no format has yet."""
    if isinstance(part, TextPart):
        return {"text": storable_text(part.content)}
    if isinstance(part, ThinkingPart):
        signed = {"signature": part.signature} if part.signature else {}
        return {"thinking": storable_text(part.content), **signed}
    if isinstance(part, FilePart):
        return {"image": part.content.data_uri, "media_type": part.content.media_type}
    raise ValueError(f"a {type(part).__name__} of a model cannot be recorded yet")
