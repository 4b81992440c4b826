"""Reads a request of the OpenAI responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic_ai.messages import (
    ModelMessage,
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
from passgrid.model_api.conversation import ConversationBuilder, image_at, plain, user_prompt
from passgrid.model_api.fields import Fields, root_fields
from passgrid.model_api.kept import KeptConversations
from passgrid.model_api.openai_settings import reasoning_effort, service_tier
from passgrid.model_api.tools import JSON_OBJECT, JSON_SCHEMA, AnswerFormat, any_object, function_tool, schema_format
from passgrid.model_api.tools import request_parameters as parameters_of
from passgrid.problems import Problem
from passgrid.storable import storable

RESPONSES = "openai-responses"

# Read below, or of no influence on what the model says.
_NAMES = (
    "model input instructions previous_response_id stream stream_options store tools tool_choice parallel_tool_calls "
    "text max_output_tokens temperature top_p reasoning service_tier truncation include metadata user "
    "safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options background top_logprobs"
)
_KNOWN = frozenset(_NAMES.split())
_UNSUPPORTED = "is not supported by this model proxy"
_REPEATED = ("instructions", "tools", "temperature", "top_p", "max_output_tokens", "previous_response_id", "reasoning")


def parse_responses(body: Any, kept: KeptConversations) -> Asked:
    """What a body asks for, after the conversation it goes on from; raises `InvalidBody` with every problem in it."""
    problems: list[Problem] = []
    fields = root_fields(body, problems)
    fields.only(_KNOWN, _UNSUPPORTED)
    model = fields.needed_text("model")
    conversation = _conversation(fields, _earlier(fields, kept))
    instructions = fields.text("instructions")
    tools = [tool for one in fields.objects("tools") if (tool := _tool(one)) is not None]
    text = fields.object("text")
    form = _format(text.object("format") if text else None)
    settings = _settings(fields, text)
    if fields.flag("background"):
        fields.refuse("background", _UNSUPPORTED)
    if fields.whole("top_logprobs"):
        fields.refuse("top_logprobs", _UNSUPPORTED)
    stream, store = bool(fields.flag("stream")), fields.flag("store")
    if problems:
        raise InvalidBody(problems)
    return Asked(
        api=RESPONSES,
        model=model,
        messages=_instructed(instructions, conversation),
        parameters=parameters_of(tools, form),
        settings=settings,
        stream=stream,
        identity=short_id(storable(body)),
        response_format=form.kind if form else None,
        echo=_echo(fields),
        keep=store is not False,
        conversation=conversation,
    )


def _earlier(fields: Fields, kept: KeptConversations) -> Sequence[ModelMessage]:
    name = fields.text("previous_response_id")
    if name is None:
        return ()
    earlier = kept.get(name)
    if earlier is None:
        fields.refuse("previous_response_id", f"no response {name!r} is kept here")
    return earlier or ()


def _instructed(instructions: str | None, conversation: list[ModelMessage]) -> list[ModelMessage]:
    if instructions is None:
        return conversation
    builder = ConversationBuilder()
    builder.say(SystemPromptPart(instructions))
    builder.extend(conversation)
    return builder.messages


def _echo(fields: Fields) -> dict[str, Any]:
    repeated = {name: fields.raw(name) for name in _REPEATED}
    choice, parallel = fields.raw("tool_choice"), fields.raw("parallel_tool_calls")
    return {
        **repeated,
        "tools": repeated["tools"] or [],
        "tool_choice": "auto" if choice is None else choice,
        "parallel_tool_calls": True if parallel is None else parallel,
        "metadata": fields.raw("metadata") or {},
        "text": fields.raw("text") or {"format": {"type": "text"}},
        "truncation": fields.raw("truncation") or "disabled",
        "store": fields.raw("store") is not False,
    }


def _conversation(fields: Fields, earlier: Sequence[ModelMessage]) -> list[ModelMessage]:
    builder = ConversationBuilder()
    builder.extend(earlier)
    if isinstance(text := fields.raw("input"), str):
        builder.say(user_prompt([text]))
    else:
        for item in fields.objects("input", required=not earlier):
            _item(item, builder)
    if not builder.messages and fields.raw("input") == []:
        fields.refuse("input", "must hold an item")
    return builder.messages


def _item(item: Fields, builder: ConversationBuilder) -> None:
    kind = item.text("type") or "message"
    if kind == "message":
        _message(item, builder)
    elif kind == "function_call":
        name, arguments = item.needed_text("name"), item.text("arguments") or "{}"
        builder.answer([ToolCallPart(name, arguments, tool_call_id=item.needed_text("call_id"))], joined=True)
    elif kind == "function_call_output":
        call = item.needed_text("call_id")
        if call and not builder.give_back(call, plain(_content(item, "output"))):
            item.refuse("call_id", f"no function_call before has the id {call!r}")
    elif kind == "reasoning":
        builder.answer(_thinking(item), joined=True)
    else:
        item.refuse("type", f"{kind!r} {_UNSUPPORTED}")


def _message(item: Fields, builder: ConversationBuilder) -> None:
    role = item.text("role", required=True)
    if role in {"system", "developer"}:
        builder.say(*(SystemPromptPart(one) for one in _content(item, "content") if isinstance(one, str)))
    elif role == "user":
        builder.say(user_prompt(_content(item, "content")))
    elif role == "assistant":
        texts = [one for one in _content(item, "content") if isinstance(one, str) and one]
        builder.answer([TextPart(text) for text in texts], joined=True)
    elif role is not None:
        item.refuse("role", "must be system, developer, user or assistant")


def _content(item: Fields, name: str) -> list[UserContent]:
    if isinstance(text := item.raw(name), str):
        return [text]
    found: list[UserContent] = []
    for part in item.objects(name, required=True):
        kind = part.text("type", required=True)
        if kind in {"input_text", "output_text", "text", "summary_text"}:
            found.append(part.needed_text("text"))
        elif kind == "refusal":
            found.append(part.needed_text("refusal"))
        elif kind == "input_image":
            found.extend(_image(part))
        elif kind is not None:
            part.refuse("type", f"{kind!r} {_UNSUPPORTED}")
    return found


def _image(part: Fields) -> list[UserContent]:
    url = part.text("image_url", required=True)
    image = None if url is None else image_at(url)
    if url is not None and image is None:
        part.refuse("image_url", "is a data URI that cannot be read")
    return [] if image is None else [image]


def _thinking(item: Fields) -> list[ModelResponsePart]:
    texts = [part.needed_text("text") for part in item.objects("summary")]
    texts += [part.needed_text("text") for part in item.objects("content")]
    signature = item.text("encrypted_content") or None
    found = [ThinkingPart(text) for text in texts] or [ThinkingPart("")]
    if signature is not None:
        found[0] = ThinkingPart(found[0].content, signature=signature, id=item.text("id"), provider_name="openai")
    return list(found)


def _tool(fields: Fields) -> ToolDefinition | None:
    if fields.text("type", required=True) != "function":
        fields.refuse("type", "only function tools are supported by this model proxy")
        return None
    return function_tool(fields, "parameters")


def _format(fields: Fields | None) -> AnswerFormat | None:
    kind = fields.choice("type", ("text", JSON_OBJECT, JSON_SCHEMA)) if fields else None
    if fields is None or kind in {None, "text"}:
        return None
    return any_object() if kind == JSON_OBJECT else schema_format(fields)


def _settings(fields: Fields, text: Fields | None) -> ModelSettings:
    reasoning = fields.object("reasoning")
    found = {
        "max_tokens": fields.whole("max_output_tokens", least=1),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "parallel_tool_calls": fields.flag("parallel_tool_calls"),
        "tool_choice": _tool_choice(fields),
        "thinking": reasoning_effort(reasoning, "effort") if reasoning else None,
        "openai_reasoning_summary": reasoning.text("summary") if reasoning else None,
        "openai_text_verbosity": text.choice("verbosity", ("low", "medium", "high")) if text else None,
        "service_tier": service_tier(fields),
    }
    return cast(ModelSettings, {name: value for name, value in found.items() if value is not None})


def _tool_choice(fields: Fields) -> str | list[str] | None:
    if isinstance(fields.raw("tool_choice"), str):
        return fields.choice("tool_choice", ("auto", "none", "required"))
    choice = fields.object("tool_choice")
    if choice is None or choice.choice("type", ("function",)) is None:
        return None
    return [choice.needed_text("name")]
