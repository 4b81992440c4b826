"""What every API must do alike: what is written can be read again, and no body makes it fail."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from anthropic.types import Message, RawMessageStreamEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from passgrid.messages import call_arguments, user_content
from passgrid.model_api.asked import Asked, InvalidBody
from passgrid.model_api.chat_answer import chat_events, render_chat
from passgrid.model_api.chat_request import parse_chat
from passgrid.model_api.kept import KeptConversations
from passgrid.model_api.messages_answer import messages_events, render_messages
from passgrid.model_api.messages_request import parse_messages
from passgrid.model_api.model_api import ModelApi
from passgrid.model_api.responses_answer import render_responses
from passgrid.model_api.responses_events import responses_events
from passgrid.model_api.responses_request import parse_responses
from passgrid.model_api.said import calls_of, text_of, thinking_of
from passgrid.wire.http import HttpReply, HttpRequest

IMAGE = "data:image/png;base64,iVBORw0KGgo="
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "Be short."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"a": 1}'},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}, "strict": True}}],
    "tool_choice": {"type": "function", "function": {"name": "look"}},
    "parallel_tool_calls": False,
    "max_completion_tokens": 9,
    "temperature": 0.5,
    "top_p": 1,
    "stop": "END",
    "seed": 7,
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "out", "schema": {"type": "object"}}},
    "stream": True,
    "stream_options": {"include_usage": True},
}
RESPONSES: dict[str, Any] = {
    "model": "m",
    "instructions": "Be short.",
    "input": [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": IMAGE}],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": '{"a": 1}'},
    ],
    "tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": True}],
    "tool_choice": {"type": "function", "name": "look"},
    "parallel_tool_calls": False,
    "max_output_tokens": 9,
    "temperature": 0.5,
    "top_p": 1,
    "reasoning": {"effort": "low"},
    "text": {"format": {"type": "json_schema", "name": "out", "schema": {"type": "object"}}},
    "stream": True,
}
MESSAGES: dict[str, Any] = {
    "model": "m",
    "system": [{"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
            ],
        },
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": '{"a": 1}'}]},
    ],
    "tools": [{"name": "look", "input_schema": {"type": "object"}, "strict": True}],
    "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": True},
    "max_tokens": 9,
    "temperature": 0.5,
    "top_p": 1,
    "stop_sequences": ["END"],
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    "stream": True,
}
RESPONSE_EVENT = TypeAdapter[Any](ResponseStreamEvent)
MESSAGE_EVENT = TypeAdapter[Any](RawMessageStreamEvent)
BODIES = {"/v1/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": MESSAGES}


def parse(path: str, body: Any) -> Asked:
    if path == "/v1/responses":
        return parse_responses(body, KeptConversations())
    return parse_chat(body) if path == "/v1/chat/completions" else parse_messages(body)


@pytest.mark.parametrize("path", BODIES)
def test_a_whole_request_is_understood(path: str) -> None:
    asked = parse(path, BODIES[path])
    prompt, turn, results = asked.messages
    assert isinstance(prompt, ModelRequest)
    assert isinstance(turn, ModelResponse)
    assert isinstance(results, ModelRequest)
    system, user = prompt.parts
    assert isinstance(system, SystemPromptPart)
    assert system.content == "Be short."
    assert isinstance(user, UserPromptPart)
    assert user_content(user) == ["See", {"image": IMAGE, "media_type": "image/png"}]
    (call,) = calls_of(turn)
    assert (call.tool_name, call.tool_call_id, call_arguments(call)) == ("look", "c1", {"x": 1})
    (result,) = results.parts
    assert isinstance(result, ToolReturnPart)
    assert (result.tool_name, result.content) == ("look", '{"a": 1}')
    (tool,) = asked.parameters.function_tools
    assert (tool.name, tool.strict) == ("look", True)
    assert asked.parameters.output_mode == "native"
    assert asked.settings.get("tool_choice") == ["look"]
    assert asked.settings.get("parallel_tool_calls") is False
    assert (asked.settings.get("max_tokens"), asked.settings.get("temperature")) == (9, 0.5)
    assert asked.settings.get("thinking") == (True if path == "/v1/messages" else "low")
    assert asked.stream


def test_every_problem_is_told_at_once_with_its_field() -> None:
    body: dict[str, Any] = {
        "messages": [
            {"role": "robot", "content": "x"},
            {"role": "tool", "tool_call_id": "c9", "content": "x"},
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
        ],
        "temperature": "hot",
        "n": 2,
        "web_search_options": {},
    }
    with pytest.raises(InvalidBody) as wrong:
        parse_chat(body)
    assert {problem.place for problem in wrong.value.problems} == {
        "model",
        "messages[0].role",
        "messages[1].tool_call_id",
        "messages[2].content[0].type",
        "temperature",
        "n",
        "web_search_options",
    }


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
# Lone surrogates are in no text a model gave: the wire cannot hold them.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
CALLS = st.lists(st.tuples(TEXTS, st.dictionaries(TEXTS, JSON_VALUES, max_size=3)), max_size=3)
TOKENS = st.builds(RequestUsage, input_tokens=st.integers(20, 99), cache_read_tokens=st.integers(0, 9))


@st.composite
def model_turns(draw: st.DrawFn) -> ModelResponse:
    parts: list[ModelResponsePart] = [ThinkingPart(text) for text in draw(st.lists(TEXTS, max_size=1))]
    parts += [TextPart(text) for text in draw(st.lists(TEXTS, max_size=3))]
    parts += [ToolCallPart(name, args, tool_call_id=f"c{i}") for i, (name, args) in enumerate(draw(CALLS))]
    return ModelResponse(parts=parts or [TextPart("ok")], usage=draw(TOKENS))


TURNS = model_turns()


def asked_plainly(api: str = "openai-chat") -> Asked:
    return Asked(api, "m", [], parse_chat(CHAT).parameters, {}, False, "identity")


def same(first: ModelResponse, second: ModelResponse) -> bool:
    calls = [
        [(one.tool_name, one.tool_call_id, call_arguments(one)) for one in calls_of(turn)] for turn in (first, second)
    ]
    return calls[0] == calls[1] and text_of(first) == text_of(second) and thinking_of(first) == thinking_of(second)


def last_turn(asked: Asked) -> ModelResponse:
    (turn,) = (message for message in asked.messages if isinstance(message, ModelResponse))
    return turn


@given(TURNS)
def test_what_chat_completions_write_can_be_read(turn: ModelResponse) -> None:
    body = render_chat(turn, asked_plainly())
    ChatCompletion.model_validate(body)
    message = json.loads(json.dumps(body))["choices"][0]["message"]
    assert same(turn, last_turn(parse_chat({"model": "m", "messages": [message]})))


@given(TURNS)
def test_what_responses_write_can_be_read(turn: ModelResponse) -> None:
    body = render_responses(turn, parse_responses({"model": "m", "input": "x"}, KeptConversations()))
    Response.model_validate(body)
    items = json.loads(json.dumps(body))["output"]
    assert same(turn, last_turn(parse_responses({"model": "m", "input": items}, KeptConversations())))


@given(TURNS)
def test_what_messages_write_can_be_read(turn: ModelResponse) -> None:
    body = render_messages(turn, asked_plainly())
    Message.model_validate(body)
    message = {"role": "assistant", "content": json.loads(json.dumps(body))["content"]}
    assert same(turn, last_turn(parse_messages({"model": "m", "max_tokens": 1, "messages": [message]})))


def data_of(events: list[bytes]) -> list[Any]:
    lines = [line for event in events for line in event.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]


@settings(max_examples=30)
@given(TURNS)
def test_streams_are_what_the_clients_expect_and_say_the_same(turn: ModelResponse) -> None:
    asked = asked_plainly()
    chunks = data_of(list(chat_events(turn, asked)))
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk)
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"] == render_chat(turn, asked)["usage"]
    assert "".join(one["choices"][0]["delta"].get("content") or "" for one in chunks[:-1]) == (text_of(turn) or "")

    echoing = parse_responses({"model": "m", "input": "x"}, KeptConversations())
    events = data_of(list(responses_events(turn, echoing)))
    for event in events:
        RESPONSE_EVENT.validate_python(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["response"] == json.loads(json.dumps(render_responses(turn, echoing)))

    blocks = data_of(list(messages_events(turn, asked)))
    for block in blocks:
        MESSAGE_EVENT.validate_python(block)
    assert (blocks[0]["type"], blocks[-1]["type"]) == ("message_start", "message_stop")


async def _yes(asked: Asked, request: HttpRequest) -> ModelResponse:
    return ModelResponse(parts=[TextPart("yes")])


async def _bytes(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


def reply_to(path: str, body: bytes, method: str = "POST", headers: Any = ()) -> tuple[HttpReply, bytes]:
    async def ask() -> tuple[HttpReply, bytes]:
        reply = await ModelApi(_yes).handle(HttpRequest(method, path, b"", tuple(headers), body))
        return reply, await _bytes(reply.stream) if reply.stream else reply.body

    return asyncio.run(ask())


def places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType, reportUnknownArgumentType]
    return [before, *(place for key, item in inner for place in places(item, (*before, key)))]


@settings(max_examples=300)
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_no_wrong_value_anywhere_makes_it_fail(path: str, data: st.DataObject) -> None:
    body: Any = copy.deepcopy(BODIES[path])
    place = data.draw(st.sampled_from(places(body)[1:]))
    holder = body
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = data.draw(JSON_VALUES)
    reply, _ = reply_to(path, json.dumps(body).encode())
    assert reply.status in {200, 400}


@given(
    st.sampled_from([*sorted(BODIES), "/v1/messages/count_tokens"]),
    st.binary(max_size=40) | JSON_VALUES.map(lambda one: json.dumps(one).encode()),
)
def test_no_body_makes_it_fail(path: str, body: bytes) -> None:
    reply, told = reply_to(path, body)
    assert reply.status == 400
    assert json.loads(told)["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("path", BODIES)
def test_a_body_nested_very_deep_is_answered(path: str) -> None:
    body = {**BODIES[path], "metadata": json.loads("[" * 600 + "]" * 600)}
    reply, _ = reply_to(path, json.dumps(body).encode())
    assert reply.status in {200, 400}
    assert reply_to(path, b"[" * 200_000)[0].status == 400


@pytest.mark.parametrize("path", BODIES)
def test_the_same_request_gets_the_same_bytes(path: str) -> None:
    body = json.dumps(BODIES[path]).encode()
    assert reply_to(path, body)[1] == reply_to(path, body)[1] == reply_to(path.removeprefix("/v1"), body)[1]


def test_other_methods_and_paths_are_refused_in_the_form_of_the_api() -> None:
    reply, told = reply_to("/v1/messages", b"", method="GET")
    assert reply.status == 405
    assert (b"allow", b"POST") in reply.headers
    assert json.loads(told)["type"] == "error"
    reply, told = reply_to("/v1/embeddings", b"{}")
    assert reply.status == 404
    assert json.loads(told)["error"]["code"] == "unknown_url"
    reply, told = reply_to("/v1/complete", b"{}", headers=[(b"anthropic-version", b"2023-06-01")])
    assert json.loads(told)["error"]["type"] == "not_found_error"


def test_paths_are_handled_with_and_without_the_version() -> None:
    api = ModelApi(_yes)
    for path in ("/v1/chat/completions", "/responses", "/messages/count_tokens", "/models/a/b", "/v1/anything"):
        assert api.handles(path), path
    for path in ("/mcp", "/v1", "/", "/v10/x"):
        assert not api.handles(path), path


def test_only_so_many_conversations_are_kept() -> None:
    kept = KeptConversations(most=2)
    for name in ("a", "b"):
        kept.keep(name, [])
    assert kept.get("a") == ()
    kept.keep("c", [])
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == ((), None, ())
    with pytest.raises(InvalidBody, match=r"previous_response_id: no response 'b' is kept here"):
        parse_responses({"model": "m", "input": "x", "previous_response_id": "b"}, kept)
