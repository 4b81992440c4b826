"""Writes a model turn as the Anthropic messages API does, in one piece or as a stream of events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_ai.messages import (
    INVALID_JSON_KEY,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from passgrid.json_values import is_object
from passgrid.messages import call_arguments
from passgrid.model_api.asked import Asked
from passgrid.model_api.events import named_event
from passgrid.model_api.messages_request import REDACTED
from passgrid.model_api.refusals import Refusal
from passgrid.model_api.said import finish_of, json_text, pieces, served_model, tokens_of, told, turn_id
from passgrid.storable import storable_text

_STOP = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_call": "tool_use",
    "error": "end_turn",
}
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def render_messages(response: ModelResponse, asked: Asked) -> dict[str, Any]:
    """The body of the answer."""
    return {
        **_envelope(response, asked),
        "content": _blocks(response),
        "stop_reason": _STOP[finish_of(response)],
        "usage": messages_usage(response),
    }


def messages_events(response: ModelResponse, asked: Asked) -> Iterator[bytes]:
    """The same as events."""
    usage = messages_usage(response)
    opened: dict[str, Any] = {**_envelope(response, asked), "content": [], "stop_reason": None}
    opened["usage"] = {**usage, "output_tokens": 0}
    yield named_event({"type": "message_start", "message": opened})
    for index, block in enumerate(_blocks(response)):
        empty, deltas = _split(block)
        yield named_event({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in deltas:
            yield named_event({"type": "content_block_delta", "index": index, "delta": delta})
        yield named_event({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": _STOP[finish_of(response)], "stop_sequence": None}
    yield named_event({"type": "message_delta", "delta": ended, "usage": usage})
    yield named_event({"type": "message_stop"})


def messages_usage(response: ModelResponse) -> dict[str, int]:
    """The tokens in this API's words: its input leaves out what the cache took. It has no way to say unknown: 0."""
    tokens = tokens_of(response)
    if tokens is None:
        return {
            "input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 0,
        }
    return {
        "input_tokens": max(0, tokens.input - tokens.cache_read - tokens.cache_write),
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }


def anthropic_error(refusal: Refusal) -> dict[str, Any]:
    """The body of an error answer; `code` is ours, as this API has none."""
    kind = _TYPES.get(refusal.status, "api_error" if refusal.status >= 500 else "invalid_request_error")
    error = {"type": refusal.type or kind, "message": refusal.message}
    return {"type": "error", "error": error if refusal.code is None else {**error, "code": refusal.code}}


def _envelope(response: ModelResponse, asked: Asked) -> dict[str, Any]:
    return {
        "id": told(response, "id") or f"msg_{turn_id(response, asked)}",
        "type": "message",
        "role": "assistant",
        "model": served_model(response, asked),
        "stop_sequence": None,
    }


def _blocks(response: ModelResponse) -> list[dict[str, Any]]:
    return [block for part in response.parts if (block := _block(part)) is not None]


def _block(part: ModelResponsePart) -> dict[str, Any] | None:
    if isinstance(part, TextPart) and part.content:
        return {"type": "text", "text": storable_text(part.content)}
    if isinstance(part, ToolCallPart):
        arguments = call_arguments(part)
        given = arguments if is_object(arguments) else {INVALID_JSON_KEY: arguments}
        return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": given}
    if isinstance(part, ThinkingPart):
        if part.id == REDACTED:
            return {"type": "redacted_thinking", "data": part.signature or ""}
        return {"type": "thinking", "thinking": storable_text(part.content), "signature": part.signature or ""}
    return None


def _split(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it starts, and the deltas that fill it."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    if block["type"] == "tool_use":
        given = json_text(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(given)]
        return {**block, "input": {}}, deltas
    if block["type"] == "thinking":
        thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        signed = [{"type": "signature_delta", "signature": block["signature"]}] if block["signature"] else []
        return {**block, "thinking": "", "signature": ""}, [*thoughts, *signed]
    return block, []
