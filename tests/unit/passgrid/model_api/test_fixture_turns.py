"""Scripted turns from aimock files: read as a whole, or refused as a whole; chosen by aimock's rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse

from passgrid.endings import ReplayMiss
from passgrid.messages import call_arguments
from passgrid.model_api.asked import Asked
from passgrid.model_api.chat_answer import render_chat
from passgrid.model_api.chat_request import parse_chat
from passgrid.model_api.fixture_serving import FixtureTurns
from passgrid.model_api.fixture_turns import read_fixture_turns
from passgrid.model_api.kept import KeptConversations
from passgrid.model_api.messages_request import parse_messages
from passgrid.model_api.refusals import Refused
from passgrid.model_api.responses_request import parse_responses
from passgrid.model_api.said import calls_of, text_of, thinking_of
from passgrid.problems import InvalidInput
from passgrid.wire.http import HttpRequest


def turns(*entries: Any) -> FixtureTurns:
    return FixtureTurns(read_fixture_turns({"fixtures": list(entries)}, "f.json"))


def entry(text: str, **match: Any) -> dict[str, Any]:
    return {"match": match, "response": {"content": text}}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str = "ok", call: str | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if call:
        message["tool_calls"] = [{"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}}]
    return message


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def chat(*messages: Any, **other: Any) -> Asked:
    return parse_chat({"model": "gpt-x", "messages": list(messages), **other})


async def answer(fixtures: FixtureTurns, asked: Asked, query: bytes = b"", **headers: str) -> ModelResponse:
    told = tuple((name.replace("_", "-").encode(), value.encode()) for name, value in headers.items())
    return await fixtures(asked, HttpRequest("POST", "/v1/chat/completions", query, told))


async def said(fixtures: FixtureTurns, asked: Asked, query: bytes = b"", **headers: str) -> str | None:
    try:
        return text_of(await answer(fixtures, asked, query, **headers))
    except ReplayMiss:
        return None


async def test_part_of_the_last_user_message_decides() -> None:
    fixtures = turns(entry("sunny", userMessage="weather"), entry("hello", userMessage="Hi"))
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    assert await said(fixtures, chat(user("the weather today"))) == "sunny"
    assert await said(fixtures, chat(user("weather"), assistant(), user("Hi!"))) == "hello"
    assert await said(fixtures, chat(user("weather"), user([image]))) == "sunny"
    assert (
        await said(fixtures, chat(user([{"type": "text", "text": "wea"}, {"type": "text", "text": "ther"}]))) == "sunny"
    )
    assert await said(fixtures, chat(user("Weather"))) is None
    with pytest.raises(
        ReplayMiss, match=r"model turn 2: none of 2 fixtures answers model 'gpt-x', last user message 'x'"
    ):
        await answer(fixtures, chat(user("hi"), assistant(), user("x")))


async def test_a_tool_result_counts_from_the_last_user_message_on() -> None:
    fixtures = turns(entry("call", hasToolResult=False), entry("tell", hasToolResult=True))
    first = [user("a"), assistant(call="c1"), result("c1", "r")]
    assert await said(fixtures, chat(first[0])) == "call"
    assert await said(fixtures, chat(*first)) == "tell"
    assert await said(fixtures, chat(*first, assistant(), user("b"))) == "call"


async def test_the_last_message_may_be_the_result_of_a_named_call() -> None:
    fixtures = turns(
        entry("no", toolCallId="c1", toolResultContains="cancelled"), entry("yes", toolCallId="c1"), entry("other")
    )
    asked = [user("a"), assistant(call="c1")]
    assert await said(fixtures, chat(*asked, result("c1", '{"cancelled": true}'))) == "no"
    assert await said(fixtures, chat(*asked, result("c1", "done"))) == "yes"
    assert await said(fixtures, chat(*asked, result("c1", "done"), user("b"))) == "other"


async def test_model_tool_system_format_and_context_decide() -> None:
    fixtures = turns(
        entry("json", responseFormat="json_object"),
        entry("tool", toolName="look"),
        entry("both", systemMessage=["Ann", "Bob"]),
        entry("context", context="blue"),
        entry("model", model="gpt-y"),
    )
    look = [{"type": "function", "function": {"name": "look"}}]
    assert await said(fixtures, chat(user("a"), response_format={"type": "json_object"})) == "json"
    assert await said(fixtures, chat(user("a"), tools=look)) == "tool"
    system = [{"role": "system", "content": "I am Ann"}, {"role": "developer", "content": "and Bob"}]
    assert await said(fixtures, chat(*system, user("a"))) == "both"
    assert await said(fixtures, chat(system[0], user("a"))) is None
    assert await said(fixtures, chat(user("a")), x_aimock_context="blue") == "context"
    for model, text in (("gpt-y", "model"), ("gpt-y-2024-08-06", "model"), ("gpt-y-mini", None), ("gpt-yy", None)):
        assert await said(fixtures, chat(user("a"), model=model)) == text


async def test_the_turn_picks_among_entries_that_fit_otherwise() -> None:
    script = turns(entry("zero", turnIndex=0), entry("two", turnIndex=2))
    so_far = [user("a"), assistant(), user("b"), assistant(), user("c"), assistant(), user("d")]
    assert [await said(script, chat(*so_far[:end])) for end in (1, 3, 5, 7)] == ["zero", "zero", "two", "two"]
    ahead = turns(entry("three", turnIndex=3), entry("two", turnIndex=2))
    assert await said(ahead, chat(user("a"))) == "two"
    behind = turns(entry("any"), entry("zero", turnIndex=0))
    assert [await said(behind, chat(*so_far[:end])) for end in (1, 3)] == ["any", "zero"]


async def test_the_sequence_is_counted_for_each_test() -> None:
    fixtures = turns(entry("one", userMessage="a", sequenceIndex=0), entry("two", userMessage="a", sequenceIndex=1))
    asked = chat(user("a"))
    assert [await said(fixtures, asked) for _ in range(3)] == ["one", "two", None]
    assert await said(fixtures, asked, x_test_id="t") == "one"
    assert await said(fixtures, asked, b"testId=t") == "two"
    fixtures.forget("t")
    assert await said(fixtures, asked, x_test_id="t") == "one"


async def test_all_apis_share_the_entries() -> None:
    fixtures = turns(entry("tell", hasToolResult=True, toolCallId="c1"), entry("turn two", turnIndex=2), entry("start"))
    use: Any = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    given: list[Any] = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "r"},
        {"type": "text", "text": "reminder"},
    ]
    messages: list[Any] = [user("a"), {"role": "assistant", "content": [use]}, user(given)]
    assert await said(fixtures, parse_messages({"model": "m", "max_tokens": 1, "messages": messages})) == "tell"
    call = {"type": "function_call", "name": "look", "arguments": "{}"}
    items = [user("a"), {**call, "call_id": "c1"}, {**call, "call_id": "c2"}, user("b")]
    asked = parse_responses({"model": "m", "input": items}, KeptConversations())
    assert await said(fixtures, asked) == "turn two"


async def test_what_an_entry_says_is_said_whole() -> None:
    fixtures = turns(
        {
            "match": {},
            "response": {
                "content": {"a": 1},
                "toolCalls": [
                    {"name": "look", "arguments": {"x": 1}, "id": "c7"},
                    {"name": "look", "arguments": '{"x": 2}'},
                ],
                "reasoning": "Hm.",
                "id": "chatcmpl-7",
                "created": 12,
                "model": "gpt-served",
                "systemFingerprint": "fp_1",
                "finishReason": "length",
                "usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}},
            },
        }
    )
    asked = chat(user("a"))
    turn = await answer(fixtures, asked)
    assert text_of(turn) == '{"a":1}'
    assert thinking_of(turn) == "Hm."
    assert [call_arguments(call) for call in calls_of(turn)] == [{"x": 1}, {"x": 2}]
    first, second = (call.tool_call_id for call in calls_of(turn))
    assert first == "c7"
    assert second.startswith("call_")
    assert second == calls_of(await answer(fixtures, asked))[1].tool_call_id
    body = render_chat(turn, asked)
    assert (body["id"], body["created"], body["model"], body["system_fingerprint"]) == (
        "chatcmpl-7",
        12,
        "gpt-served",
        "fp_1",
    )
    assert body["choices"][0]["finish_reason"] == "length"
    assert body["usage"]["total_tokens"] == 15
    assert body["usage"]["prompt_tokens_details"]["cached_tokens"] == 4


async def test_blocks_keep_their_order() -> None:
    blocks = [{"type": "toolCall", "name": "look", "arguments": "{}"}, {"type": "text", "text": "Looking."}]
    turn = await answer(turns({"match": {}, "response": {"blocks": blocks}}), chat(user("a")))
    assert [part.part_kind for part in turn.parts] == ["tool-call", "text"]


async def test_an_error_is_given_with_its_status() -> None:
    error = {"message": "Too many", "type": "rate_limit_error", "code": "rate_limit_exceeded"}
    fixtures = turns({"match": {}, "response": {"error": error, "status": 429}})
    with pytest.raises(Refused) as refused:
        await answer(fixtures, chat(user("a")))
    refusal = refused.value.refusal
    assert (refusal.status, refusal.message, refusal.type, refusal.code) == (429, *error.values())
    assert refusal.retry_after_s == 1


def test_how_fast_an_answer_comes_is_read_and_other_parts_are_left_alone() -> None:
    paced = {**entry("a"), "latency": 5, "chunkSize": 3, "streamingProfile": {"ttft": 200}, "_note": "x"}
    document = {"$comment": "by hand", "mcpFakes": {"broken": 1}, "fixtures": [paced]}
    assert len(read_fixture_turns(document, "f.json")) == 1
    assert read_fixture_turns({"mcpFakes": []}, "f.json") == ()


def test_everything_not_supported_is_told_at_once_with_file_and_entry() -> None:
    document = {
        "fixtures": [
            entry("fine"),
            {"match": {"inputText": "a", "endpoint": "embedding"}, "response": {"embedding": [0.1]}},
            {"match": {"userMessage": None}, "response": {"image": {"url": "x"}}, "chaos": {"dropRate": 1}},
            {"match": {"turnIndex": -1}, "response": {"toolCalls": [{"name": "", "arguments": "{"}]}},
            {"response": {"content": "", "webSearches": ["q"]}},
            {"match": {}, "response": {"error": {"message": "x"}, "status": 99}},
            "text",
        ]
    }
    with pytest.raises(InvalidInput) as wrong:
        read_fixture_turns(document, "turns.json")
    places = {problem.place.removeprefix("turns.json: fixtures") for problem in wrong.value.problems}
    assert places == {
        "[1].match.inputText",
        "[1].match.endpoint",
        "[1].response.embedding",
        "[2].match.userMessage",
        "[2].chaos",
        "[2].response.image",
        "[3].match.turnIndex",
        "[3].response.toolCalls[0].name",
        "[3].response.toolCalls[0].arguments",
        "[4].match",
        "[4].response.content",
        "[4].response.webSearches",
        "[5].response.status",
        "[6]",
    }
    with pytest.raises(InvalidInput, match=r"turns.json: fixtures: must be a list"):
        read_fixture_turns({"fixtures": {}}, "turns.json")


def test_a_file_is_json_as_written() -> None:
    text = '{"fixtures": [{"match": {"userMessage": "hello"}, "response": {"content": "Hello!"}}]}'
    (turn,) = read_fixture_turns(json.loads(text), "hello.json")
    assert turn.place == "hello.json: fixtures[0]"
