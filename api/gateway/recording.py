"""A session of any client, as it passed a gateway, becomes a cassette: calls, fakes included, and model turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.cassettes.format import COMPLETED_ENDING, Cassette
from passgrid.cassettes.recorder import recorded_steps
from passgrid.meter import Meter
from passgrid.problems import InvalidInput, Problem
from passgrid.scenario import Limits
from passgrid.transcript import ModelCallRecord, ToolCallRecord
from passgrid.warehouse.gateway_models import ModelTurn, turns_of


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call of a tool with its answer, as the wire had it."""

    server: str
    tool: str
    arguments: Any
    result: Any
    failed: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a suite a recording belongs."""

    scenario: str
    label: str
    prompt: str
    sample: int


def session_cassette(
    connection: sa.Connection, space: str, test_id: str, place: Place, calls: Sequence[RecordedCall], tools: list[Any]
) -> Cassette:
    """The recording of a test's session. Raises `InvalidInput` where nothing of it passed."""
    turns = [turn for turn in turns_of(connection, space, test_id) if turn.answer is not None]
    if not turns and not calls:
        raise InvalidInput(
            [Problem(f"test {test_id}", "no message of it passed this gateway", "passgrid gateway journal")]
        )
    messages = _conversation(turns) if turns else _calls_alone(calls)
    steps, timings = recorded_steps(messages, _meter(messages, turns, calls))
    return Cassette(
        scenario=place.scenario,
        label=place.label,
        prompt=place.prompt,
        sample=place.sample,
        source={"model": turns[-1].model if turns else "none", "tool": "passgrid gateway"},
        system=_system(messages),
        tools=tools,
        steps=steps,
        ending={"outcome": COMPLETED_ENDING},
        timings=timings,
    )


def _conversation(turns: Sequence[ModelTurn]) -> list[ModelMessage]:
    """The longest conversation: each request holds all that was said before it."""
    found: list[list[ModelMessage]] = [
        [
            *ModelMessagesTypeAdapter.validate_json(turn.asked),
            *ModelMessagesTypeAdapter.validate_json(turn.answer or "[]"),
        ]
        for turn in turns
    ]
    return max(found, key=len)


def _calls_alone(calls: Sequence[RecordedCall]) -> list[ModelMessage]:
    """A session whose model nobody saw: one call a turn."""
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("(the client's model was not recorded)")])]
    for number, call in enumerate(calls):
        call_id = f"call_{number}"
        messages.append(ModelResponse([ToolCallPart(call.tool, call.arguments, tool_call_id=call_id)]))
        outcome = "failed" if call.failed else "success"
        messages.append(ModelRequest([ToolReturnPart(call.tool, call.result, tool_call_id=call_id, outcome=outcome)]))
    return messages


def _meter(messages: Sequence[ModelMessage], turns: Sequence[ModelTurn], calls: Sequence[RecordedCall]) -> Meter:
    """What a recorder wants to know beside the conversation."""
    meter = Meter(Limits())
    left = list(calls)
    turn = 0
    for message in messages:
        if not isinstance(message, ModelResponse):
            continue
        turn += 1
        meter.model_calls.append(_model_record(message, turn, turns))
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                one = next((call for call in left if call.tool == part.tool_name), None)
                if one is not None:
                    left.remove(one)
                    meter.tool_calls.append(_tool_record(one, turn, len(meter.tool_calls)))
    return meter


def _model_record(message: ModelResponse, turn: int, turns: Sequence[ModelTurn]) -> ModelCallRecord:
    kept = turns[turn - 1] if turn <= len(turns) else None
    usage = message.usage if message.usage.has_values() else None
    return ModelCallRecord(
        turn=turn,
        answered=kept.answered if kept else "recorded",
        served_model=message.model_name,
        finish_reason=message.finish_reason,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cache_read_tokens=usage.cache_read_tokens if usage else None,
        cache_write_tokens=usage.cache_write_tokens if usage else None,
        cost_usd=kept.cost_usd if kept else None,
        cost_source=None,
        started_ms=0.0,
        duration_ms=kept.duration_ms if kept else 0.0,
    )


def _tool_record(call: RecordedCall, turn: int, position: int) -> ToolCallRecord:
    return ToolCallRecord(
        turn=turn,
        server=call.server,
        tool=call.tool,
        arguments=call.arguments,
        result=call.result,
        answered="live",
        score=None,
        error=call.failed,
        error_text=str(call.result) if call.failed else None,
        started_ms=0.0,
        duration_ms=None,
        asked=position,
        answered_at=position,
    )


def _system(messages: Sequence[ModelMessage]) -> str | None:
    parts = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, SystemPromptPart)
    ]
    return "\n\n".join(parts) or None
