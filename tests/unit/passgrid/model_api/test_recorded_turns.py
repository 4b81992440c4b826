"""The recorded turn that follows a conversation is found, and only where the conversation is the recorded one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse

from passgrid.endings import ReplayMiss
from passgrid.model_api.chat_request import parse_chat
from passgrid.model_api.recorded_turns import RecordedTurns
from passgrid.model_api.refusals import Refused, UnknownModel
from passgrid.model_api.said import text_of
from passgrid.model_api.wire_model import read_like
from passgrid.wire.http import HttpRequest
from tests.unit.passgrid.model_api.recording import ARTICLE, LONG_TEXT, SYSTEM, TOOLS, recorded

START: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "How many hinges?"}]
CALLS = [("call_1", "get_article", {"sku": "HINGE-40"}), ("call_2", "get_price", {"sku": "HINGE-40", "note": "ü" * 40})]


def said(text: str | None = "Let me look.", calls: Any = CALLS) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": one, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for one, name, arguments in calls
        ],
    }


def results(article: str = json.dumps(ARTICLE), price: str = "no price") -> list[Any]:
    return [
        {"role": "tool", "tool_call_id": "call_1", "content": article},
        {"role": "tool", "tool_call_id": "call_2", "content": price},
    ]


async def ask(
    turns: RecordedTurns, messages: list[Any], model: str = "any", sample: str | None = None
) -> ModelResponse:
    tools = [{"type": "function", "function": {"name": tool["name"]}} for tool in TOOLS]
    asked = parse_chat({"model": model, "messages": messages, "tools": tools})
    headers = () if sample is None else ((b"x-passgrid-sample", sample.encode()),)
    return await turns(asked, HttpRequest("POST", "/v1/chat/completions", b"", headers))


ONE = RecordedTurns([recorded()])


async def test_results_are_compared_as_values_where_values_were_recorded() -> None:
    spaced = json.dumps(ARTICLE, indent=4)
    assert text_of(await ask(ONE, [*START, said(), *results(spaced)])) == LONG_TEXT


async def test_what_the_model_was_told_counts_where_it_was_not_the_answer() -> None:
    answers = {"calls": [{"call": 0, "result": ARTICLE, "told": "64 left"}, {"call": 1, "error": "no price"}]}
    alone: Any = {"alone": {"tool": "log", "args": {}, "server": "stock", "result": None}}
    before = recorded()
    turns = RecordedTurns([replace(before, steps=(*before.steps[:2], answers, alone, *before.steps[3:]))])
    assert text_of(await ask(turns, [*START, said(), *results("64 left")])) == LONG_TEXT
    with pytest.raises(ReplayMiss, match=r'get_article: recorded "64 left", now'):
        await ask(turns, [*START, said(), *results()])


async def test_what_clients_make_of_errors_and_thinking_is_taken_for_what_it_was() -> None:
    thinking_first = said("<think>\nI should look it up, twice.\n</think>\n\nLet me look.")
    assert text_of(await ask(ONE, [*START, thinking_first, *results(price='{"error":"no price"}')])) == LONG_TEXT


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (START[1:], r'model turn 1: the system prompt differs recorded "You count stock.", now ""'),
        ([*START, said("Let me see."), *results()], r'after turn 1: model turn.text: recorded "Let me look."'),
        (
            [*START, said(calls=[CALLS[0], ("call_2", "get_price", {})]), *results()],
            r"model turn.calls\[1\].arguments.sku",
        ),
        ([*START, said(), *results(article='{"sku": "HINGE-40"}')], r"model turn 2: get_article.quantity: recorded 64"),
        ([*START, said(), *results(price="no Price")], r'model turn 2: get_price: recorded "no price"'),
        ([*START, said()], r"ends with a model turn"),
        ([*START, said(), results()[0]], r"model turn 2: a model turn is asked for, and a further answer to a call is"),
    ],
)
async def test_a_difference_is_a_miss_that_names_turn_and_place(messages: list[Any], reason: str) -> None:
    with pytest.raises(ReplayMiss, match=reason):
        await ask(ONE, messages)


async def test_after_the_end_of_the_recording_nothing_is_answered() -> None:
    whole = [*START, said(), *results(), {"role": "assistant", "content": LONG_TEXT}]
    whole += [{"role": "user", "content": "Thanks. And screws?"}, {"role": "assistant", "content": "None."}]
    with pytest.raises(ReplayMiss, match="a user turn came that is not recorded here"):
        await ask(ONE, [*whole, {"role": "user", "content": "And nails?"}])


async def test_the_first_sample_that_fits_answers_unless_one_is_named() -> None:
    turns = RecordedTurns([recorded(2, "two"), recorded(0, "zero"), recorded(1, "one")])
    conversation = [*START, said(), *results()]
    assert text_of(await ask(turns, conversation)) == "zero"
    assert text_of(await ask(turns, conversation, sample="2")) == "two"
    follow = [
        *conversation,
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "Thanks. And screws?"},
    ]
    assert text_of(await ask(turns, follow)) == "None."
    with pytest.raises(ReplayMiss, match="no recording of this sample"):
        await ask(turns, conversation, sample="9")
    with pytest.raises(Refused, match="must be a number"):
        await ask(turns, conversation, sample="first")


async def test_a_label_may_be_named() -> None:
    turns = RecordedTurns([recorded(0, "good"), recorded(0, "bad", label="bad-model")])
    conversation = [*START, said(), *results()]
    assert turns.models == ("recorded:bad-model", "recorded:good-model")
    assert text_of(await ask(turns, conversation, model="recorded:bad-model")) == "bad"
    assert text_of(await ask(turns, conversation, model="recorded:good-model")) == "good"
    with pytest.raises(UnknownModel, match=r"recorded:bad-model, recorded:good-model"):
        await ask(turns, conversation, model="recorded:other")


async def test_the_miss_tells_of_the_recording_that_went_along_furthest() -> None:
    turns = RecordedTurns([recorded(0, "zero"), recorded(1, "one")])
    conversation = [
        *START,
        said(),
        *results(),
        {"role": "assistant", "content": "one"},
        {"role": "user", "content": "x"},
    ]
    with pytest.raises(ReplayMiss, match=r"sample 1: model turn 3: user: recorded .*Thanks"):
        await ask(turns, conversation)


@pytest.mark.parametrize(
    ("recorded_value", "received", "read"),
    [
        ({"a": 1}, '{"a":1}', {"a": 1}),
        ({"a": 1}, "{a}", "{a}"),
        (5, "5", 5),
        (None, "null", None),
        ("5", "5", "5"),
        ('{"a": 1}', '{"a":1}', '{"a":1}'),
        (["x", {"a": 1}], ["x", '{"a":1}'], ["x", {"a": 1}]),
        (["x"], '["x"]', ["x"]),
    ],
)
def test_a_text_is_read_as_json_only_where_json_was_recorded(recorded_value: Any, received: Any, read: Any) -> None:
    assert read_like(recorded_value, received) == read
