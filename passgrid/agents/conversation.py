"""A conversation out of what is known of a program: its calls where it asked no model, and its answer."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.json_values import is_object
from passgrid.transcript import ToolCallRecord


def conversation_of(turns: Sequence[str], calls: Sequence[ToolCallRecord]) -> list[ModelMessage]:
    """User turns, then each call of the journal with its answer; whoever asked for it."""
    said: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(turn)]) for turn in turns]
    for n, call in enumerate(sorted(calls, key=lambda call: call.asked), start=1):
        call_id = f"call_{n}"
        arguments = call.arguments if isinstance(call.arguments, str) or is_object(call.arguments) else {}
        said.append(ModelResponse(parts=[ToolCallPart(call.tool, arguments, call_id)]))
        if call.answered_at is not None:
            outcome = "failed" if call.error else "success"
            said.append(ModelRequest(parts=[ToolReturnPart(call.tool, call.result, call_id, outcome=outcome)]))
    return said


def with_answer(messages: Sequence[ModelMessage], text: str) -> list[ModelMessage]:
    """The conversation with the program's answer as its last word, where the model's last turn is not just that."""
    last = messages[-1] if messages else None
    if isinstance(last, ModelResponse) and _text(last).strip() == text.strip() and text.strip():
        return list(messages)
    return [*messages, ModelResponse(parts=[TextPart(text)] if text else [])]


def _text(response: ModelResponse) -> str:
    return "\n\n".join(part.content for part in response.parts if isinstance(part, TextPart))
