"""A conversation from the wire, put into the order in which a recorder sees one."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, ToolReturnPart

from passgrid.model_api.said import BETWEEN_TEXTS, calls_of


def as_recorders_see(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The conversation as a recorder sees one.

    Turns alternate, one system prompt comes first (an empty one where the client sent none, so that its absence is a
    difference), and results stand in the order of their calls.
    """
    seen: list[ModelMessage] = []
    for message in messages:
        last = seen[-1] if seen else None
        if isinstance(message, ModelRequest):
            seen.append(_in_order_of_calls(message, last))
        elif isinstance(last, ModelResponse):
            seen[-1] = ModelResponse(parts=[*last.parts, *message.parts])
        else:
            seen.append(message)
    if seen and isinstance(seen[0], ModelRequest):
        seen[0] = _one_system_prompt(seen[0])
    return seen


def _one_system_prompt(message: ModelRequest) -> ModelRequest:
    prompts = [part.content for part in message.parts if isinstance(part, SystemPromptPart)]
    others = [part for part in message.parts if not isinstance(part, SystemPromptPart)]
    return ModelRequest(parts=[SystemPromptPart(BETWEEN_TEXTS.join(prompts)), *others])


def _in_order_of_calls(message: ModelRequest, before: ModelMessage | None) -> ModelRequest:
    if not isinstance(before, ModelResponse):
        return message
    position = {call.tool_call_id: i for i, call in enumerate(calls_of(before))}
    returns = [part for part in message.parts if isinstance(part, ToolReturnPart)]
    others = [part for part in message.parts if not isinstance(part, ToolReturnPart)]
    returns.sort(key=lambda part: position.get(part.tool_call_id, len(position)))
    return ModelRequest(parts=[*returns, *others])
