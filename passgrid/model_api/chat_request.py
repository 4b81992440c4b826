"""Reads a request of the OpenAI chat completions API."""

from __future__ import annotations

from typing import Any, cast

from pydantic_ai.messages import ModelResponsePart, SystemPromptPart, TextPart, ThinkingPart, ToolCallPart, UserContent
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from passgrid.identity import short_id
from passgrid.model_api.asked import Asked, InvalidBody
from passgrid.model_api.conversation import ConversationBuilder, image_at, plain, user_prompt
from passgrid.model_api.fields import Fields, root_fields
from passgrid.model_api.openai_settings import reasoning_effort, service_tier
from passgrid.model_api.tools import JSON_OBJECT, JSON_SCHEMA, AnswerFormat, any_object, function_tool, schema_format
from passgrid.model_api.tools import request_parameters as parameters_of
from passgrid.problems import Problem
from passgrid.storable import storable

CHAT = "openai-chat"

# Read below, or of no influence on what the model says.
_NAMES = (
    "model messages stream stream_options tools tool_choice parallel_tool_calls response_format max_tokens "
    "max_completion_tokens temperature top_p stop seed presence_penalty frequency_penalty logit_bias reasoning_effort "
    "verbosity service_tier n logprobs modalities metadata store user safety_identifier prompt_cache_key "
    "prompt_cache_retention prompt_cache_options"
)
_KNOWN = frozenset(_NAMES.split())
_UNSUPPORTED = "is not supported by this model proxy"


def parse_chat(body: Any) -> Asked:
    """What a body asks for; raises `InvalidBody` with every problem in it."""
    problems: list[Problem] = []
    fields = root_fields(body, problems)
    fields.only(_KNOWN, _UNSUPPORTED)
    model = fields.needed_text("model")
    builder = _conversation(fields)
    tools = [tool for one in fields.objects("tools") if (tool := _tool(one)) is not None]
    form = _format(fields.object("response_format"))
    settings = _settings(fields)
    _refuse_variants(fields)
    options = fields.object("stream_options")
    include_usage = bool(options and options.flag("include_usage"))
    stream = bool(fields.flag("stream"))
    if problems:
        raise InvalidBody(problems)
    return Asked(
        api=CHAT,
        model=model,
        messages=builder.messages,
        parameters=parameters_of(tools, form),
        settings=settings,
        stream=stream,
        identity=short_id(storable(body)),
        include_usage=include_usage,
        response_format=form.kind if form else None,
    )


def _refuse_variants(fields: Fields) -> None:
    if fields.whole("n") not in {None, 1}:
        fields.refuse("n", "only one choice is given")
    if fields.flag("logprobs"):
        fields.refuse("logprobs", _UNSUPPORTED)
    if fields.texts("modalities") not in (None, ["text"]):
        fields.refuse("modalities", "only text is given")


def _conversation(fields: Fields) -> ConversationBuilder:
    builder = ConversationBuilder()
    messages = fields.objects("messages", required=True)
    if fields.raw("messages") == []:
        fields.refuse("messages", "must hold a message")
    for message in messages:
        _message(message, builder)
    return builder


def _message(message: Fields, builder: ConversationBuilder) -> None:
    role = message.text("role", required=True)
    if role in {"system", "developer"}:
        builder.say(*(SystemPromptPart(text) for text in _texts(message)))
    elif role == "user":
        builder.say(user_prompt(_user_content(message)))
    elif role == "assistant":
        builder.answer(_assistant_parts(message))
    elif role == "tool":
        call = message.needed_text("tool_call_id")
        if call and not builder.give_back(call, plain(_user_content(message))):
            message.refuse("tool_call_id", f"no call before has the id {call!r}")
    elif role is not None:
        message.refuse("role", "must be system, developer, user, assistant or tool")


def _texts(message: Fields) -> list[str]:
    texts = [item for item in _user_content(message) if isinstance(item, str)]
    return texts or [""]


def _user_content(message: Fields) -> list[UserContent]:
    if isinstance(text := message.raw("content"), str):
        return [text]
    items: list[UserContent] = []
    for part in message.objects("content", required=True):
        kind = part.text("type", required=True)
        if kind == "text":
            items.append(part.needed_text("text"))
        elif kind == "image_url":
            items.extend(_image(part))
        elif kind is not None:
            part.refuse("type", f"{kind!r} {_UNSUPPORTED}")
    return items


def _image(part: Fields) -> list[UserContent]:
    holder = part.object("image_url", required=True)
    url = holder.text("url", required=True) if holder else None
    if holder is None or url is None:
        return []
    image = image_at(url)
    if image is None:
        holder.refuse("url", "is a data URI that cannot be read")
        return []
    return [image]


def _assistant_parts(message: Fields) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = []
    thinking = message.text("reasoning_content") or message.text("reasoning")
    if thinking:
        parts.append(ThinkingPart(thinking))
    parts.extend(TextPart(text) for text in _assistant_texts(message))
    for call in message.objects("tool_calls"):
        function = call.object("function", required=True)
        if call.choice("type", ("function",)) and function is not None:
            name, arguments = function.needed_text("name"), function.text("arguments") or "{}"
            parts.append(ToolCallPart(name, arguments, tool_call_id=call.needed_text("id")))
    return parts


def _assistant_texts(message: Fields) -> list[str]:
    refusal = [text for text in (message.text("refusal"),) if text]
    if "content" not in message:
        return refusal
    if isinstance(content := message.raw("content"), str):
        return [content, *refusal] if content else refusal
    texts: list[str] = []
    for part in message.objects("content"):
        kind = part.choice("type", ("text", "refusal"))
        if kind is not None and (text := part.needed_text(kind)):
            texts.append(text)
    return texts + refusal


def _tool(fields: Fields) -> ToolDefinition | None:
    if fields.text("type", required=True) != "function":
        fields.refuse("type", "only function tools are supported by this model proxy")
        return None
    function = fields.object("function", required=True)
    return None if function is None else function_tool(function, "parameters")


def _format(fields: Fields | None) -> AnswerFormat | None:
    if fields is None:
        return None
    kind = fields.choice("type", ("text", JSON_OBJECT, JSON_SCHEMA))
    if kind == JSON_OBJECT:
        return any_object()
    if kind == JSON_SCHEMA and (schema := fields.object("json_schema", required=True)) is not None:
        return schema_format(schema)
    return None


def _settings(fields: Fields) -> ModelSettings:
    most = fields.whole("max_completion_tokens", least=1)
    found = {
        "max_tokens": most if most is not None else fields.whole("max_tokens", least=1),
        "temperature": fields.number("temperature"),
        "top_p": fields.number("top_p"),
        "stop_sequences": fields.texts("stop"),
        "seed": fields.whole("seed"),
        "presence_penalty": fields.number("presence_penalty"),
        "frequency_penalty": fields.number("frequency_penalty"),
        "logit_bias": fields.mapping("logit_bias"),
        "parallel_tool_calls": fields.flag("parallel_tool_calls"),
        "tool_choice": _tool_choice(fields),
        "thinking": reasoning_effort(fields, "reasoning_effort"),
        "openai_text_verbosity": fields.choice("verbosity", ("low", "medium", "high")),
        "service_tier": service_tier(fields),
    }
    return cast(ModelSettings, {name: value for name, value in found.items() if value is not None})


def _tool_choice(fields: Fields) -> str | list[str] | None:
    if isinstance(fields.raw("tool_choice"), str):
        return fields.choice("tool_choice", ("auto", "none", "required"))
    choice = fields.object("tool_choice")
    if choice is None:
        return None
    if choice.choice("type", ("function",)) is None:
        return None
    function = choice.object("function", required=True)
    return None if function is None else [function.needed_text("name")]
