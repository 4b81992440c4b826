"""What was said and called in one sample of an Inspect log, in our shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from inspect_ai.event import ModelEvent, ToolEvent
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from pydantic import BaseModel

from passgrid.json_values import is_array, is_object
from passgrid.transcript import Message, ModelCallRecord, ToolCallRecord


def messages_of(sample: EvalSample) -> list[Message]:
    """The conversation."""
    return [_message(one) for one in sample.messages]


def _message(message: ChatMessage) -> Message:
    text, thinking = _split(message.content)
    found: Message = {"role": message.role, "content": text}
    match message:
        case ChatMessageAssistant():
            if thinking:
                found["thinking"] = thinking
            if message.tool_calls:
                found["tool_calls"] = [
                    {"id": call.id, "name": call.function, "arguments": call.arguments} for call in message.tool_calls
                ]
        case ChatMessageTool():
            found |= {"tool_call_id": message.tool_call_id, "name": message.function}
            if message.error is not None:
                found |= {"outcome": "failed", "content": text or message.error.message}
        case _:
            pass
    return found


def _split(content: Any) -> tuple[Any, list[str]]:
    """Text, or parts where it is not only text; and thoughts."""
    if isinstance(content, str):
        return content, []
    parts = [_plain(part) for part in content]
    thoughts = [str(part.get("reasoning") or "") for part in parts if part.get("type") == "reasoning"]
    rest = [part for part in parts if part.get("type") != "reasoning"]
    if all(part.get("type") == "text" for part in rest):
        return "".join(str(part.get("text") or "") for part in rest), thoughts
    return rest, thoughts


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if isinstance(value, BaseModel) else value


def tool_calls_of(sample: EvalSample) -> list[ToolCallRecord]:
    """The journal: from the log's events, those of sub-agents too; from the messages where it has no events."""
    if any(isinstance(event, ToolEvent | ModelEvent) for event in sample.events):
        return list(_from_events(sample))
    return list(_from_messages(sample.messages))


def _from_events(sample: EvalSample) -> Iterator[ToolCallRecord]:
    turn = asked = 0
    for event in sample.events:
        if isinstance(event, ModelEvent):
            turn += 1
        elif isinstance(event, ToolEvent):
            known = event.working_time is not None
            error = event.error.message if event.error is not None else None
            yield ToolCallRecord(
                turn=max(turn, 1),
                server="",
                tool=event.function,
                arguments=event.arguments,
                result=_result(event.result) if error is None else error,
                answered="live",
                error=error is not None or bool(event.failed),
                error_text=error,
                started_ms=event.working_start * 1000,
                duration_ms=event.working_time * 1000 if known and event.working_time is not None else None,
                asked=asked,
                answered_at=None,
            )
            asked += 1


def _from_messages(messages: Sequence[ChatMessage]) -> Iterator[ToolCallRecord]:
    """Ids may repeat: an answer belongs to the last call of its id before it."""
    turn = asked = 0
    for place, message in enumerate(messages):
        if not isinstance(message, ChatMessageAssistant):
            continue
        turn += 1
        for call in message.tool_calls or ():
            answer = _answer(messages[place + 1 :], call.id)
            error = answer.error.message if answer is not None and answer.error is not None else None
            yield ToolCallRecord(
                turn=turn,
                server="",
                tool=call.function,
                arguments=call.arguments,
                result=None if answer is None else error or _split(answer.content)[0],
                answered="live",
                error=error is not None,
                error_text=error,
                started_ms=0.0,
                duration_ms=None,
                asked=asked,
                answered_at=None,
            )
            asked += 1


def _answer(later: Sequence[ChatMessage], call_id: str) -> ChatMessageTool | None:
    for message in later:
        if isinstance(message, ChatMessageTool) and message.tool_call_id == call_id:
            return message
    return None


def _result(result: Any) -> Any:
    parts: list[Any] = result if is_array(result) else [result]
    plain = [_plain(part) for part in parts]
    if all(is_object(part) and part.get("type") == "text" for part in plain):
        return "".join(str(part["text"]) for part in plain)
    return plain[0] if len(plain) == 1 else plain


def model_calls_of(sample: EvalSample) -> list[ModelCallRecord]:
    """Model turns with what they used; empty where the log has no events."""
    events = [event for event in sample.events if isinstance(event, ModelEvent)]
    return [_model_call(turn, event) for turn, event in enumerate(events, 1)]


def _model_call(turn: int, event: ModelEvent) -> ModelCallRecord:
    usage = event.output.usage
    working = event.working_time if event.working_time is not None else event.output.time
    return ModelCallRecord(
        turn=turn,
        answered="live",
        served_model=event.output.model or None,
        finish_reason=event.output.stop_reason if event.output.choices else None,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cache_read_tokens=usage.input_tokens_cache_read if usage else None,
        cache_write_tokens=usage.input_tokens_cache_write if usage else None,
        cost_usd=usage.total_cost if usage else None,
        started_ms=event.working_start * 1000,
        duration_ms=(working or 0.0) * 1000,
        cost_source="prices" if usage and usage.total_cost is not None else None,
    )


def bytes_of(value: Any) -> int | None:
    """The size of an answer as JSON or text."""
    if value is None:
        return None
    return len(value.encode(errors="replace")) if isinstance(value, str) else len(orjson.dumps(value, default=str))
