"""What a model turn says, in the terms all APIs share: why it ended, its calls' arguments, its tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic_ai.messages import FinishReason, ModelResponse, TextPart, ThinkingPart, ToolCallPart

from passgrid.identity import short_id
from passgrid.json_values import is_object
from passgrid.messages import call_arguments
from passgrid.model_api.asked import Asked
from passgrid.storable import storable, storable_text

PIECE = 24
"""Characters of a text in one event of a stream."""
BETWEEN_TEXTS = "\n\n"
"""Between two texts of one turn, where an API has room for one only."""

ENVELOPE = "passgrid-envelope"
"""Where in a response's provider details the fields lie that `told` gives."""

FINISH_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "tool_call": "tool_call",
    "tool_calls": "tool_call",
    "tool_use": "tool_call",
}
"""How the reasons for an end are spelled, here and there."""


def finish_of(response: ModelResponse) -> FinishReason:
    """Why the turn ended: as it was told, else as it follows from what it says."""
    recorded = (response.provider_details or {}).get("passgrid")
    told = response.finish_reason or (recorded.get("finish") if is_object(recorded) else None)
    by_content: FinishReason = "tool_call" if calls_of(response) else "stop"
    return FINISH_REASONS.get(str(told), by_content) if told else by_content


def calls_of(response: ModelResponse) -> list[ToolCallPart]:
    """The tool calls of a turn."""
    return [part for part in response.parts if isinstance(part, ToolCallPart)]


def text_of(response: ModelResponse) -> str | None:
    """The whole text of a turn, None where it has none."""
    texts = [storable_text(part.content) for part in response.parts if isinstance(part, TextPart) and part.content]
    return BETWEEN_TEXTS.join(texts) if texts else None


def thinking_of(response: ModelResponse) -> str | None:
    """The whole readable thinking of a turn, None where it has none."""
    texts = [storable_text(part.content) for part in response.parts if isinstance(part, ThinkingPart) and part.content]
    return BETWEEN_TEXTS.join(texts) if texts else None


def arguments_text(part: ToolCallPart) -> str:
    """A call's arguments as text; what the model wrote itself stays as it wrote it."""
    return storable_text(part.args) if isinstance(part.args, str) else json_text(call_arguments(part))


def json_text(value: Any) -> str:
    """A value as compact JSON, whatever it holds."""
    return orjson.dumps(storable(value)).decode()


def pieces(text: str) -> Iterator[str]:
    """A text in the pieces a stream carries."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def served_model(response: ModelResponse, asked: Asked) -> str:
    """The name of the model that answered, else the one asked for."""
    return response.model_name or asked.model


def told(response: ModelResponse, name: str) -> Any:
    """A field of the envelope that whoever answers decided, such as `id`; None where it is left to us."""
    envelope = (response.provider_details or {}).get(ENVELOPE)
    return envelope.get(name) if is_object(envelope) else None


def turn_id(response: ModelResponse, asked: Asked) -> str:
    """An id of the answer that follows from request and answer alone."""
    said = [
        [part.part_kind, arguments_text(part) if isinstance(part, ToolCallPart) else getattr(part, "content", None)]
        for part in response.parts
        if isinstance(part, TextPart | ThinkingPart | ToolCallPart)
    ]
    return short_id(storable([asked.api, asked.identity, said]))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a turn. Input includes what was read from and written to a cache."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int


def tokens_of(response: ModelResponse) -> Tokens | None:
    """The tokens of a turn, None where nobody knows them."""
    used = response.usage
    if not used.has_values():
        return None
    reasoning = used.output_reasoning_tokens or used.details.get("reasoning_tokens", 0)
    return Tokens(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens, reasoning)
