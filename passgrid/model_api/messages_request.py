"""Reads a request of the Anthropic messages API."""

from __future__ import annotations

import base64
import binascii
from typing import Any, cast

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserContent,
)
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from passgrid.identity import short_id
from passgrid.model_api.asked import Asked, InvalidBody
from passgrid.model_api.conversation import ConversationBuilder, plain, user_prompt
from passgrid.model_api.fields import Fields, root_fields
from passgrid.model_api.tools import JSON_SCHEMA, AnswerFormat, function_tool, schema_format
from passgrid.model_api.tools import request_parameters as parameters_of
from passgrid.problems import Problem
from passgrid.storable import storable

MESSAGES = "anthropic-messages"
REDACTED = "redacted_thinking"
"""The id the agent library gives a thinking part that only holds sealed data."""

# Read below, or of no influence on what the model says.
_NAMES = (
    "model messages system max_tokens stream tools tool_choice temperature top_p top_k stop_sequences thinking "
    "output_config output_format metadata service_tier cache_control inference_geo speed diagnostics betas "
    "user_profile_id workspace_id"
)
_KNOWN = frozenset(_NAMES.split())
_UNSUPPORTED = "is not supported by this model proxy"
_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def parse_messages(body: Any, *, counting: bool = False) -> Asked:
    """What a body asks for; raises `InvalidBody` with every problem in it. counting: only tokens are to be counted."""
    problems: list[Problem] = []
    fields = root_fields(body, problems)
    fields.only(_KNOWN, _UNSUPPORTED)
    model = fields.needed_text("model")
    builder = _conversation(fields)
    tools = [tool for one in fields.objects("tools") if (tool := _tool(one)) is not None]
    output = fields.object("output_config")
    form = _format(fields.object("output_format")) or _format(output.object("format") if output else None)
    settings = _settings(fields, output, counting)
    stream = bool(fields.flag("stream"))
    if problems:
        raise InvalidBody(problems)
    return Asked(
        api=MESSAGES,
        model=model,
        messages=builder.messages,
        parameters=parameters_of(tools, form),
        settings=settings,
        stream=stream,
        identity=short_id(storable(body)),
        response_format=form.kind if form else None,
    )


def _conversation(fields: Fields) -> ConversationBuilder:
    builder = ConversationBuilder()
    if isinstance(system := fields.raw("system"), str):
        builder.say(SystemPromptPart(system))
    else:
        texts = [block.needed_text("text") for block in fields.objects("system") if _is(block, "text")]
        if texts:
            builder.say(*(SystemPromptPart(text) for text in texts))
    messages = fields.objects("messages", required=True)
    if fields.raw("messages") == []:
        fields.refuse("messages", "must hold a message")
    for message in messages:
        role = message.text("role", required=True)
        if role == "user":
            _user_message(message, builder)
        elif role == "assistant":
            builder.answer(_assistant_parts(message), joined=True)
        elif role is not None:
            message.refuse("role", "must be user or assistant")
    return builder


def _is(block: Fields, kind: str) -> bool:
    return block.choice("type", (kind,)) == kind


def _user_message(message: Fields, builder: ConversationBuilder) -> None:
    if isinstance(text := message.raw("content"), str):
        builder.say(user_prompt([text]))
        return
    said: list[UserContent] = []
    for block in message.objects("content", required=True):
        if block.raw("type") == "tool_result":
            _tool_result(block, builder)
        else:
            said.extend(_content(block))
    if said:
        builder.say(user_prompt(said))


def _tool_result(block: Fields, builder: ConversationBuilder) -> None:
    call = block.needed_text("tool_use_id")
    if isinstance(text := block.raw("content"), str):
        items: list[UserContent] = [text]
    else:
        items = [item for part in block.objects("content") for item in _content(part)]
    if call and not builder.give_back(call, plain(items), failed=bool(block.flag("is_error"))):
        block.refuse("tool_use_id", f"no tool_use before has the id {call!r}")


def _content(block: Fields) -> list[UserContent]:
    kind = block.text("type", required=True)
    if kind == "text":
        return [block.needed_text("text")]
    if kind == "image":
        source = block.object("source", required=True)
        return [] if source is None else _image(source)
    if kind is not None:
        block.refuse("type", f"{kind!r} {_UNSUPPORTED}")
    return []


def _image(source: Fields) -> list[UserContent]:
    kind = source.choice("type", ("base64", "url"))
    if kind == "url":
        return [ImageUrl(source.needed_text("url"))]
    if kind is None:
        return []
    data, media_type = source.needed_text("data"), source.needed_text("media_type")
    try:
        return [BinaryContent(base64.b64decode(data, validate=True), media_type=media_type)]
    except (binascii.Error, ValueError):
        source.refuse("data", "must be base64")
        return []


def _assistant_parts(message: Fields) -> list[ModelResponsePart]:
    if isinstance(text := message.raw("content"), str):
        return [TextPart(text)] if text else []
    return [part for block in message.objects("content", required=True) if (part := _assistant_part(block)) is not None]


def _assistant_part(block: Fields) -> ModelResponsePart | None:
    kind = block.text("type", required=True)
    if kind == "text":
        return TextPart(block.needed_text("text"))
    if kind == "tool_use":
        return ToolCallPart(
            block.needed_text("name"), block.mapping("input") or {}, tool_call_id=block.needed_text("id")
        )
    if kind == "thinking":
        signature = block.text("signature") or None
        return ThinkingPart(
            block.text("thinking") or "", signature=signature, provider_name="anthropic" if signature else None
        )
    if kind == "redacted_thinking":
        return ThinkingPart("", id=REDACTED, signature=block.needed_text("data"), provider_name="anthropic")
    if kind is not None:
        block.refuse("type", f"{kind!r} {_UNSUPPORTED}")
    return None


def _tool(fields: Fields) -> ToolDefinition | None:
    kind = fields.text("type")
    if kind not in {None, "custom"}:
        fields.refuse("type", "only the client's own tools are supported by this model proxy")
        return None
    return function_tool(fields, "input_schema")


def _format(fields: Fields | None) -> AnswerFormat | None:
    if fields is None or fields.choice("type", (JSON_SCHEMA,)) is None:
        return None
    return schema_format(fields)


def _settings(fields: Fields, output: Fields | None, counting: bool) -> ModelSettings:
    choice = fields.object("tool_choice")
    serial = choice.flag("disable_parallel_tool_use") if choice else None
    found = {
        "max_tokens": fields.whole("max_tokens", required=not counting, least=1),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "top_k": fields.whole("top_k"),
        "stop_sequences": fields.texts("stop_sequences"),
        "parallel_tool_calls": None if serial is None else not serial,
        "tool_choice": _tool_choice(choice),
        **_thinking(fields),
        "anthropic_effort": output.choice("effort", _EFFORTS) if output else None,
    }
    return cast(ModelSettings, {name: value for name, value in found.items() if value is not None})


def _thinking(fields: Fields) -> dict[str, Any]:
    """Both the common switch and the exact wish, which only this provider's models understand."""
    thinking = fields.object("thinking")
    kind = thinking.choice("type", ("enabled", "adaptive", "disabled")) if thinking else None
    if thinking is None or kind is None:
        return {}
    thinking.whole("budget_tokens", required=kind == "enabled", least=1)
    return {"thinking": kind != "disabled", "anthropic_thinking": fields.raw("thinking")}


def _tool_choice(choice: Fields | None) -> str | list[str] | None:
    kind = choice.choice("type", ("auto", "any", "none", "tool")) if choice else None
    if choice is None or kind is None:
        return None
    if kind == "tool":
        return [choice.needed_text("name")]
    return "required" if kind == "any" else kind
