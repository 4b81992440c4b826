"""Writes a model turn as the OpenAI responses API streams it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_ai.messages import ModelResponse

from passgrid.model_api.asked import Asked
from passgrid.model_api.events import named_event
from passgrid.model_api.responses_answer import opened_response, output_items, render_responses
from passgrid.model_api.said import pieces


def responses_events(response: ModelResponse, asked: Asked) -> Iterator[bytes]:
    """The answer as numbered events."""
    for number, event in enumerate(_events(response, asked)):
        yield named_event({**event, "sequence_number": number})


def _events(response: ModelResponse, asked: Asked) -> Iterator[dict[str, Any]]:
    opened = opened_response(response, asked)
    yield {"type": "response.created", "response": opened}
    yield {"type": "response.in_progress", "response": opened}
    for index, item in enumerate(output_items(response, asked)):
        yield from _item_events(item, index)
    whole = render_responses(response, asked)
    yield {"type": f"response.{whole['status']}", "response": whole}


def _item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index}
    empty: dict[str, Any] = {**item, "status": "in_progress"}
    if item["type"] == "message":
        empty["content"], fill = [], _text_events(item["content"][0], at)
    elif item["type"] == "function_call":
        empty["arguments"], fill = "", _argument_events(item, at)
    else:
        empty["summary"], fill = [], _thinking_events(item, at)
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield from fill
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text_events(content: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {**at, "content_index": 0}
    yield {"type": "response.content_part.added", **at, "part": {**content, "text": ""}}
    for piece in pieces(content["text"]):
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": content["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": content}


def _argument_events(item: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for piece in pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    yield {
        "type": "response.function_call_arguments.done",
        **at,
        "name": item["name"],
        "arguments": item["arguments"],
    }


def _thinking_events(item: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(item.get("summary", ())):
        place = {**at, "summary_index": number}
        yield {"type": "response.reasoning_summary_part.added", **place, "part": {**part, "text": ""}}
        for piece in pieces(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
        yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
