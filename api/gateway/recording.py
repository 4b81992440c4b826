"""A session of any client, as it passed a gateway, becomes a cassette: calls, fakes included, and model turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

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

from passgrid.agents.tool_results import tells_the_same
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import COMPLETED_ENDING, Cassette
from passgrid.cassettes.recorder import recorded_steps
from passgrid.messages import call_arguments
from passgrid.meter import Meter
from passgrid.scenario import Limits
from passgrid.transcript import ModelCallRecord, ToolCallRecord
from passgrid.warehouse.gateway_models import ModelTurn


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
    place: Place, turns: Sequence[ModelTurn], calls: Sequence[RecordedCall], tools: list[Any]
) -> Cassette:
    """The recording of a session: the turns its model gave, in order, and the calls that were answered, in order."""
    told = [turn for turn in turns if turn.answer is not None]
    spoken = _conversation(told) if told else _calls_alone(calls)
    paired = _paired(spoken, calls)
    messages = [_with_results(message, paired) for message in spoken]
    steps, timings = recorded_steps(messages, _meter(messages, told, paired))
    return Cassette(
        scenario=place.scenario,
        label=place.label,
        prompt=place.prompt,
        sample=place.sample,
        source={"model": told[-1].model if told else "none", "tool": "passgrid gateway"},
        system=_system(messages),
        tools=tools,
        steps=steps,
        ending={"outcome": COMPLETED_ENDING},
        timings=timings,
    )


def _conversation(turns: Sequence[ModelTurn]) -> list[ModelMessage]:
    """The longest conversation: each request holds all that was said before it.

    What a client repeats of a turn lacks its usage and more: where the turn is known, it stands in its place.
    """
    asked = [ModelMessagesTypeAdapter.validate_json(turn.asked) for turn in turns]
    given = [ModelMessagesTypeAdapter.validate_json(turn.answer or "[]") for turn in turns]
    last = max(range(len(turns)), key=lambda number: len(asked[number]))
    messages = [*asked[last], *given[last]]
    for before, answer in zip(asked, given, strict=True):
        position = len(before)
        if position < len(messages) and isinstance(messages[position], ModelResponse) and answer:
            messages[position] = answer[0]
    return messages


def _calls_alone(calls: Sequence[RecordedCall]) -> list[ModelMessage]:
    """A session whose model nobody saw: one call a turn."""
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("(the client's model was not recorded)")])]
    for number, call in enumerate(calls):
        call_id = f"call_{number}"
        messages.append(ModelResponse([ToolCallPart(call.tool, call.arguments, tool_call_id=call_id)]))
        outcome = "failed" if call.failed else "success"
        messages.append(ModelRequest([ToolReturnPart(call.tool, call.result, tool_call_id=call_id, outcome=outcome)]))
    return messages


def _paired(messages: Sequence[ModelMessage], calls: Sequence[RecordedCall]) -> dict[str, tuple[int, RecordedCall]]:
    """Which answered call, with its position in order, is that of a model's: the first with its tool and arguments."""
    left = list(enumerate(calls))
    found: dict[str, tuple[int, RecordedCall]] = {}
    for part in (part for message in messages if isinstance(message, ModelResponse) for part in message.parts):
        if not isinstance(part, ToolCallPart):
            continue
        wanted = canonical_arguments(call_arguments(part))
        same = (
            one for one in left if one[1].tool == part.tool_name and canonical_arguments(one[1].arguments) == wanted
        )
        if (one := next(same, None)) is not None:
            left.remove(one)
            found[part.tool_call_id] = one
    return found


def _with_results(message: ModelMessage, paired: dict[str, tuple[int, RecordedCall]]) -> ModelMessage:
    """The message with answers as the server gave them, where the client told its model the same in other words."""
    if not isinstance(message, ModelRequest):
        return message
    parts = [
        replace(part, content=paired[part.tool_call_id][1].result)
        if isinstance(part, ToolReturnPart)
        and part.tool_call_id in paired
        and tells_the_same(part.content, paired[part.tool_call_id][1].result)
        else part
        for part in message.parts
    ]
    return replace(message, parts=parts)


def _meter(
    messages: Sequence[ModelMessage], turns: Sequence[ModelTurn], paired: dict[str, tuple[int, RecordedCall]]
) -> Meter:
    """What a recorder wants to know beside the conversation."""
    meter = Meter(Limits())
    costs = {len(ModelMessagesTypeAdapter.validate_json(turn.asked)): turn for turn in turns}
    number = 0
    for position, message in enumerate(messages):
        if not isinstance(message, ModelResponse):
            continue
        number += 1
        meter.model_calls.append(_model_record(message, number, costs.get(position)))
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.tool_call_id in paired:
                position_of_answer, call = paired[part.tool_call_id]
                meter.tool_calls.append(_tool_record(call, number, len(meter.tool_calls), position_of_answer))
    return meter


def _model_record(message: ModelResponse, turn: int, kept: ModelTurn | None) -> ModelCallRecord:
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


def _tool_record(call: RecordedCall, turn: int, asked: int, answered: int) -> ToolCallRecord:
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
        asked=asked,
        answered_at=answered,
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
