"""What an entry of a fixture file answers: the turn it says, or the error it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
from pydantic_ai.messages import FinishReason, ModelResponse, ModelResponsePart, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from passgrid.identity import short_id
from passgrid.json_values import is_array, is_object
from passgrid.model_api.asked import Asked
from passgrid.model_api.fields import Fields
from passgrid.model_api.messages_request import REDACTED
from passgrid.model_api.refusals import Refusal
from passgrid.model_api.said import ENVELOPE, FINISH_REASONS, json_text

NOT_SUPPORTED = "is not supported here"
_SAYING = frozenset({"content", "toolCalls", "blocks", "reasoning", "reasoningSignature", "redactedThinking"})
# The last two concern a provider whose API is not spoken here.
_OVERRIDES = frozenset(
    {"id", "created", "model", "usage", "systemFingerprint", "finishReason", "role", "provider", "nativeFinishReason"}
)


@dataclass(frozen=True, slots=True)
class FixtureAnswer:
    """One model turn."""

    parts: tuple[ModelResponsePart, ...] = ()
    """Calls without an id of their own have an empty one until somebody asks."""
    model: str | None = None
    finish: FinishReason | None = None
    usage: RequestUsage = field(default_factory=RequestUsage)
    envelope: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def response(self, asked: Asked) -> ModelResponse:
        """The turn as an answer to this request; missing call ids follow from it."""
        return ModelResponse(
            parts=[_with_id(part, i, asked) for i, part in enumerate(self.parts)],
            usage=self.usage,
            model_name=self.model or asked.model,
            finish_reason=self.finish,
            provider_details={ENVELOPE: dict(self.envelope)},
        )


def _with_id(part: ModelResponsePart, position: int, asked: Asked) -> ModelResponsePart:
    if isinstance(part, ToolCallPart) and not part.tool_call_id:
        made = f"call_{short_id([asked.identity, position])[:24]}"
        return replace(part, tool_call_id=made)
    return part


def comments(fields: Fields) -> list[str]:
    """The fields that are remarks of the author."""
    return [name for name in fields.names if name.startswith(("$", "_"))]


def read_answer(response: Fields) -> FixtureAnswer | Refusal | None:
    """The answer of an entry, None where it is wrong and noted as such."""
    if "error" in response:
        return _error(response)
    response.only(_SAYING | _OVERRIDES | set(comments(response)), NOT_SUPPORTED)
    if not set(response.names) - _OVERRIDES - {"reasoningSignature"}:
        response.refuse("content", "must be given, or toolCalls, blocks or error")
    envelope = {
        "id": response.text("id"),
        "created": response.whole("created", least=0),
        "system_fingerprint": response.text("systemFingerprint"),
    }
    response.choice("role", ("assistant",))
    finish = response.choice("finishReason", FINISH_REASONS)
    return FixtureAnswer(
        parts=(*_thinking(response), *_parts(response)),
        model=response.text("model"),
        finish=None if finish is None else FINISH_REASONS[finish],
        usage=_usage(response),
        envelope={name: value for name, value in envelope.items() if value is not None},
    )


def _error(response: Fields) -> Refusal | None:
    response.only({"error", "status", "retryAfter", "fallthrough", *comments(response)}, NOT_SUPPORTED)
    error = response.object("error")
    status = response.whole("status", least=200)
    if status is not None and status > 999:
        response.refuse("status", "must be at most 999")
    retry_after = response.number("retryAfter")
    if error is None:
        return None
    error.only({"message", "type", "code", "param", "metadata", *comments(error)}, NOT_SUPPORTED)
    status = 500 if status is None else status
    return Refusal(
        status,
        error.needed_text("message"),
        code=error.text("code"),
        type=error.text("type"),
        field=error.text("param"),
        retry_after_s=1.0 if status == 429 and retry_after is None else retry_after,
    )


def _thinking(response: Fields) -> list[ModelResponsePart]:
    redacted: list[ModelResponsePart] = [
        ThinkingPart("", id=REDACTED, signature=data, provider_name="anthropic")
        for data in response.texts("redactedThinking") or ()
    ]
    text, signature = response.text("reasoning"), response.text("reasoningSignature")
    if not text:
        return redacted
    provider = "anthropic" if signature else None
    return [*redacted, ThinkingPart(text, signature=signature, provider_name=provider)]


def _parts(response: Fields) -> list[ModelResponsePart]:
    """Blocks say what comes in which order; beside them, text and calls only repeat it."""
    if blocks := response.objects("blocks"):
        return [part for block in blocks if (part := _block(block)) is not None]
    texts: list[ModelResponsePart] = [TextPart(text) for text in (_content(response),) if text]
    return [*texts, *(_call(call) for call in response.objects("toolCalls"))]


def _content(response: Fields) -> str | None:
    content = response.raw("content")
    if content == "":
        response.refuse("content", "must not be empty")
    if is_object(content) or is_array(content):
        return json_text(content)
    return response.text("content")


def _block(block: Fields) -> ModelResponsePart | None:
    kind = block.text("type", required=True)
    if kind == "text":
        return TextPart(block.needed_text("text"))
    if kind == "toolCall":
        return _call(block)
    if kind is not None:
        block.refuse("type", "must be text or toolCall")
    return None


def _call(call: Fields) -> ToolCallPart:
    call.only({"type", "name", "arguments", "id", *comments(call)}, NOT_SUPPORTED)
    name = call.needed_text("name")
    if call.raw("name") == "":
        call.refuse("name", "must not be empty")
    return ToolCallPart(name, _arguments(call), tool_call_id=call.text("id") or "")


def _arguments(call: Fields) -> str | dict[str, Any]:
    given = call.raw("arguments")
    if is_object(given):
        return given
    if is_array(given):
        return json_text(given)
    text = call.needed_text("arguments")
    try:
        orjson.loads(text or "null")
    except orjson.JSONDecodeError:
        call.refuse("arguments", f"must be JSON, not {text[:60]!r}")
    return text


def _usage(response: Fields) -> RequestUsage:
    usage = response.object("usage")
    if usage is None:
        return RequestUsage()
    taken, details = usage.object("prompt_tokens_details"), usage.object("completion_tokens_details")
    read, write = _count(usage, "cache_read_input_tokens"), _count(usage, "cache_creation_input_tokens")
    given = _count(usage, "prompt_tokens", "input_tokens", "promptTokenCount")
    return RequestUsage(
        # The one API that names these two leaves them out of its input tokens.
        input_tokens=given + read + write,
        output_tokens=_count(usage, "completion_tokens", "output_tokens", "candidatesTokenCount"),
        cache_read_tokens=read or (_count(taken, "cached_tokens") if taken else 0),
        cache_write_tokens=write or (_count(taken, "cache_write_tokens") if taken else 0),
        output_reasoning_tokens=_count(details, "reasoning_tokens") if details else 0,
    )


def _count(fields: Fields, *names: str) -> int:
    return next((count for name in names if (count := fields.whole(name, least=0)) is not None), 0)
