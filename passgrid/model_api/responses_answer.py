"""Writes a model turn as the OpenAI responses API does, in one piece."""

from __future__ import annotations

from typing import Any

from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ThinkingPart, ToolCallPart

from passgrid.model_api.asked import Asked
from passgrid.model_api.said import arguments_text, finish_of, served_model, tokens_of, told, turn_id
from passgrid.storable import storable_text

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def render_responses(response: ModelResponse, asked: Asked) -> dict[str, Any]:
    """The body of the answer."""
    reason = _INCOMPLETE.get(finish_of(response))
    return {
        **opened_response(response, asked),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": output_items(response, asked),
        "usage": responses_usage(response),
    }


def opened_response(response: ModelResponse, asked: Asked) -> dict[str, Any]:
    """The answer as it stands before anything is said."""
    # No clock: the same turn is the same bytes, whenever it is replayed.
    return {
        "id": response_id(response, asked),
        "object": "response",
        "created_at": told(response, "created") or 0,
        "status": "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": served_model(response, asked),
        "output": [],
        "usage": None,
        **asked.echo,
    }


def response_id(response: ModelResponse, asked: Asked) -> str:
    """The id a client names to go on from here."""
    return told(response, "id") or f"resp_{turn_id(response, asked)}"


def output_items(response: ModelResponse, asked: Asked) -> list[dict[str, Any]]:
    """The items of the answer, one for each part."""
    stem = turn_id(response, asked)
    items = [_item(part, f"{stem}{i}") for i, part in enumerate(response.parts)]
    return [item for item in items if item is not None]


def responses_usage(response: ModelResponse) -> dict[str, Any] | None:
    """The tokens in this API's words, None where nobody knows them."""
    tokens = tokens_of(response)
    if tokens is None:
        return None
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }


def _item(part: ModelResponsePart, stem: str) -> dict[str, Any] | None:
    if isinstance(part, TextPart) and part.content:
        said: dict[str, Any] = {"type": "output_text", "text": storable_text(part.content)}
        said |= {"annotations": [], "logprobs": []}
        item: dict[str, Any] = {"type": "message", "id": f"msg_{stem}", "role": "assistant", "status": "completed"}
        return {**item, "content": [said]}
    if isinstance(part, ToolCallPart):
        return {
            "type": "function_call",
            "id": f"fc_{stem}",
            "call_id": part.tool_call_id,
            "name": part.tool_name,
            "arguments": arguments_text(part),
            "status": "completed",
        }
    if isinstance(part, ThinkingPart):
        summary = [{"type": "summary_text", "text": storable_text(part.content)}] if part.content else []
        return {"type": "reasoning", "id": f"rs_{stem}", "summary": summary, "encrypted_content": part.signature}
    return None
