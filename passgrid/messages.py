"""From the agent library's messages to ours: the only place that knows both shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from passgrid.json_values import is_array, is_object
from passgrid.storable import storable_text
from passgrid.transcript import Message

LIBRARY_CAUSES = frozenset({"unknown_tool", "unavailable_tool", "validation_error"})
"""Causes of a retry that the agent library writes a text of its own for; no tool was reached."""

OWN_TOOL = "passgrid_own_tool"
"""Marks the result of a tool that an agent program has itself: no server was asked."""

TOLD = "passgrid_told"
"""What an agent program told its model of an answer, where that is not the answer."""


def told_instead(part: ToolReturnPart[Any]) -> Any:
    """What an agent program told its model in place of an answer; None where it told the answer itself."""
    metadata: Any = part.metadata
    return metadata.get(TOLD) if is_object(metadata) else None


def library_kind(part: ToolReturnPart[Any]) -> str | None:
    """The kind of a text the agent library wrote in place of an answer; None for a server's own."""
    if part.retry is not None and part.retry.cause in LIBRARY_CAUSES:
        return part.retry.cause
    return None


def plain_content(content: Any) -> Any:
    """A tool's answer as text or JSON; binary becomes a data URI, lone surrogates a replacement character."""
    if isinstance(content, str):
        return storable_text(content)
    if isinstance(content, BinaryContent):
        return {"image": content.data_uri, "media_type": content.media_type}
    if is_array(content):
        return [plain_content(item) for item in content]
    return _without_surrogates(to_jsonable_python(content, fallback=str, inf_nan_mode="strings"))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if is_array(value):
        return [_without_surrogates(item) for item in value]
    if is_object(value):
        return {storable_text(str(key)): _without_surrogates(item) for key, item in value.items()}
    return value


def user_content(part: UserPromptPart) -> Any:
    """A user turn as text, or as a list of text and parts."""
    if isinstance(part.content, str):
        return storable_text(part.content)
    return [plain_content(item) for item in part.content]


def transcript_of(messages: Iterable[ModelMessage]) -> list[Message]:
    """Every message of a conversation, in the shape `passgrid.transcript` describes."""
    transcript: list[Message] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            transcript.extend(_request_message(part) for part in message.parts)
        else:
            transcript.append(_response_message(message))
    return transcript


def _request_message(part: ModelRequestPart) -> Message:
    if isinstance(part, ToolReturnPart):
        return _tool_message(part)
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": user_content(part)}
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": storable_text(part.content)}
    if isinstance(part, RetryFeedbackPart):
        cause = part.retry.cause
        return {"role": "user", "content": storable_text(part.model_response()), "library": cause}
    return {"role": "user", "content": storable_text(str(part)), "library": type(part).__name__}


def _tool_message(part: ToolReturnPart[Any]) -> Message:
    message: Message = {
        "role": "tool",
        "tool_call_id": part.tool_call_id,
        "name": part.tool_name,
        "content": plain_content(part.content),
    }
    if part.outcome != "success":
        message["outcome"] = part.outcome
    if kind := library_kind(part):
        message["library"] = kind
    if (told := told_instead(part)) is not None:
        message["told"] = told
    return message


def _response_message(message: ModelResponse) -> Message:
    texts: list[str] = []
    calls: list[dict[str, Any]] = []
    other: dict[str, list[Any]] = {}
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            calls.append({"id": part.tool_call_id, "name": part.tool_name, "arguments": call_arguments(part)})
        elif isinstance(part, TextPart):
            texts.append(storable_text(part.content))
        elif isinstance(part, ThinkingPart):
            other.setdefault("thinking", []).append(storable_text(part.content))
        elif isinstance(part, FilePart):
            other.setdefault("images", []).append(part.content.data_uri)
    answer: Message = {"role": "assistant", "content": "\n\n".join(texts) if texts else None, **other}
    if calls:
        answer["tool_calls"] = calls
    return answer


def call_arguments(part: ToolCallPart) -> Any:
    """A call's arguments as an object where the model wrote one, else the text it wrote."""
    if isinstance(part.args, str):
        try:
            return part.args_as_dict(raise_if_invalid=True)
        except ValueError:
            return storable_text(part.args)
    return plain_content(part.args) if part.args is not None else {}
