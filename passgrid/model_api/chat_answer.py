"""Writes a model turn as the OpenAI chat completions API does, in one piece or as a stream of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_ai.messages import ModelResponse, ToolCallPart

from passgrid.model_api.asked import Asked
from passgrid.model_api.events import DONE, data_event
from passgrid.model_api.said import (
    arguments_text,
    calls_of,
    finish_of,
    pieces,
    served_model,
    text_of,
    thinking_of,
    tokens_of,
    told,
    turn_id,
)

_FINISH = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
    "tool_call": "tool_calls",
    "error": "stop",
}


def render_chat(response: ModelResponse, asked: Asked) -> dict[str, Any]:
    """The body of the answer. Thinking goes where the servers that show it put it: `reasoning_content`."""
    message: dict[str, Any] = {"role": "assistant", "content": text_of(response), "refusal": None}
    if thinking := thinking_of(response):
        message["reasoning_content"] = thinking
    if calls := calls_of(response):
        message["tool_calls"] = [_call(call) for call in calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[finish_of(response)]}
    body = {**_envelope(response, asked, "chat.completion"), "choices": [choice]}
    usage = chat_usage(response)
    return body if usage is None else {**body, "usage": usage}


def chat_events(response: ModelResponse, asked: Asked) -> Iterator[bytes]:
    """The same as chunks."""
    envelope = _envelope(response, asked, "chat.completion.chunk")
    if asked.include_usage:
        envelope["usage"] = None
    for delta in _deltas(response):
        yield data_event({**envelope, "choices": [_choice(delta, None)]})
    yield data_event({**envelope, "choices": [_choice({}, _FINISH[finish_of(response)])]})
    if asked.include_usage:
        yield data_event({**envelope, "choices": [], "usage": chat_usage(response)})
    yield DONE


def chat_usage(response: ModelResponse) -> dict[str, Any] | None:
    """The tokens in this API's words, None where nobody knows them."""
    tokens = tokens_of(response)
    if tokens is None:
        return None
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }


def _envelope(response: ModelResponse, asked: Asked, kind: str) -> dict[str, Any]:
    # No clock: the same turn is the same bytes, whenever it is replayed.
    envelope = {
        "id": told(response, "id") or f"chatcmpl-{turn_id(response, asked)}",
        "object": kind,
        "created": told(response, "created") or 0,
        "model": served_model(response, asked),
    }
    fingerprint = told(response, "system_fingerprint")
    return envelope if fingerprint is None else {**envelope, "system_fingerprint": fingerprint}


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(response: ModelResponse) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if calls_of(response) else "", "refusal": None}
    for piece in pieces(thinking_of(response) or ""):
        yield {"reasoning_content": piece}
    for piece in pieces(text_of(response) or ""):
        yield {"content": piece}
    for index, call in enumerate(calls_of(response)):
        opened = _call(call)
        opened["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": index, **opened}]}
        for piece in pieces(arguments_text(call)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(call: ToolCallPart) -> dict[str, Any]:
    function = {"name": call.tool_name, "arguments": arguments_text(call)}
    return {"id": call.tool_call_id, "type": "function", "function": function}
