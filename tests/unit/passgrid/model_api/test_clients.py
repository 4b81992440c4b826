"""The official clients against a real server: what was recorded is what they get, in one piece and as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from pydantic_ai.messages import ModelResponse

from passgrid.endings import LimitReached
from passgrid.model_api.asked import Asked
from passgrid.model_api.recorded_turns import RecordedTurns
from passgrid.model_api.refusals import Refusal, Refused
from passgrid.outcome import LimitName
from passgrid.wire.http import HttpRequest
from tests.unit.passgrid.model_api.recording import ARTICLE, LONG_TEXT, SYSTEM, TOOLS, recorded
from tests.unit.passgrid.model_api.serving import served

MODEL = "any-model"
FIRST = "How many hinges?"
CALLS = [
    ("call_1", "get_article", {"sku": "HINGE-40"}),
    ("call_2", "get_price", {"sku": "HINGE-40", "note": "ü" * 40}),
]
RESULTS = {"call_1": json.dumps(ARTICLE), "call_2": "no price"}


class Counting:
    """The recording, and how many requests came."""

    def __init__(self) -> None:
        self.requests = 0
        self._turns = RecordedTurns([recorded()])

    async def __call__(self, asked: Asked, request: HttpRequest) -> ModelResponse:
        self.requests += 1
        return await self._turns(asked, request)


@pytest.fixture(scope="module")
def answer() -> Counting:
    return Counting()


@pytest.fixture(scope="module")
def url(answer: Counting) -> Iterator[str]:
    with served(answer) as address:
        yield address


@pytest.fixture(scope="module")
def openai_client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none")


@pytest.fixture(scope="module")
def anthropic_client(url: str) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=url, api_key="none")


def chat_tools() -> list[Any]:
    return [{"type": "function", "function": {"name": tool["name"], "parameters": {}}} for tool in TOOLS]


def response_tools() -> list[Any]:
    return [{"type": "function", "name": tool["name"], "parameters": {}, "strict": False} for tool in TOOLS]


def anthropic_tools() -> list[Any]:
    return [{"name": tool["name"], "input_schema": {"type": "object"}} for tool in TOOLS]


@pytest.mark.parametrize("stream", [False, True])
def test_chat_completions_replay_a_conversation(openai_client: openai.OpenAI, stream: bool) -> None:
    def ask(messages: list[Any]) -> Any:
        asked: dict[str, Any] = {"model": MODEL, "messages": messages, "tools": chat_tools()}
        if not stream:
            create: Any = openai_client.chat.completions.create
            return create(**asked)
        streaming: Any = openai_client.chat.completions.stream(**asked, stream_options={"include_usage": True})
        with streaming as events:
            final: Any = events.get_final_completion()
            return final

    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": FIRST}]
    first = ask(messages)
    said = first.choices[0].message
    assert said.content == "Let me look."
    assert said.reasoning_content == "I should look it up, twice."
    assert [(one.id, one.function.name, json.loads(one.function.arguments)) for one in said.tool_calls] == CALLS
    assert first.choices[0].finish_reason == "tool_calls"
    assert first.model == "good-model-2026"
    assert (first.usage.prompt_tokens, first.usage.completion_tokens) == (120, 35)
    assert first.usage.prompt_tokens_details.cached_tokens == 80

    messages.append(said.to_dict() if not stream else json.loads(said.to_json()))
    # A client may send results in the order in which they came.
    for call in ("call_2", "call_1"):
        messages.append({"role": "tool", "tool_call_id": call, "content": RESULTS[call]})
    second = ask([{key: value for key, value in one.items() if key != "parsed"} for one in messages])
    assert second.choices[0].message.content == LONG_TEXT
    assert second.choices[0].finish_reason == "stop"

    messages = [
        *messages,
        {"role": "assistant", "content": LONG_TEXT},
        {"role": "user", "content": "Thanks. And screws?"},
    ]
    if not stream:
        third = ask(messages)
        assert (third.choices[0].message.content, third.choices[0].finish_reason) == ("None.", "length")
        assert third.usage is None


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("linked", [False, True])
def test_responses_replay_a_conversation(openai_client: openai.OpenAI, stream: bool, linked: bool) -> None:
    def ask(given: list[Any], before: str | None) -> Any:
        asked: dict[str, Any] = {"model": MODEL, "instructions": SYSTEM, "input": given, "tools": response_tools()}
        if before is not None:
            asked["previous_response_id"] = before
        if not stream:
            create: Any = openai_client.responses.create
            return create(**asked)
        streaming: Any = openai_client.responses.stream(**asked)
        with streaming as events:
            final: Any = events.get_final_response()
            return final

    conversation: list[Any] = [{"role": "user", "content": FIRST}]
    first = ask(conversation, None)
    assert [item.type for item in first.output] == ["reasoning", "message", "function_call", "function_call"]
    assert first.output[0].summary[0].text == "I should look it up, twice."
    assert first.output_text == "Let me look."
    calls = [(one.call_id, one.name, json.loads(one.arguments)) for one in first.output if one.type == "function_call"]
    assert calls == CALLS
    assert (first.usage.input_tokens, first.usage.output_tokens) == (120, 35)
    assert first.usage.input_tokens_details.cached_tokens == 80

    results = [{"type": "function_call_output", "call_id": call, "output": text} for call, text in RESULTS.items()]
    said = [] if linked else [*conversation, *(_without_parsed(item.to_dict()) for item in first.output)]
    second = ask([*said, *results], first.id if linked else None)
    assert second.output_text == LONG_TEXT
    assert second.status == "completed"
    if linked:
        # The streaming helper of the client takes no incomplete answer, this one does.
        third: Any = openai_client.responses.create(
            model=MODEL,
            instructions=SYSTEM,
            input="Thanks. And screws?",
            tools=response_tools(),
            previous_response_id=second.id,
        )
        assert (third.output_text, third.status) == ("None.", "incomplete")
        assert third.incomplete_details.reason == "max_output_tokens"


def _without_parsed(value: Any) -> Any:
    """What the client's own reading adds to an item is no part of the API."""
    if isinstance(value, dict):
        return {key: _without_parsed(item) for key, item in value.items() if not key.startswith("parsed")}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return [_without_parsed(item) for item in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


@pytest.mark.parametrize("stream", [False, True])
def test_messages_replay_a_conversation(anthropic_client: anthropic.Anthropic, stream: bool) -> None:
    def ask(messages: list[Any]) -> Any:
        asked: dict[str, Any] = {"model": MODEL, "max_tokens": 500, "system": SYSTEM, "tools": anthropic_tools()}
        if not stream:
            create: Any = anthropic_client.messages.create
            return create(**asked, messages=messages)
        streaming: Any = anthropic_client.messages.stream(**asked, messages=messages)
        with streaming as events:
            final: Any = events.get_final_message()
            return final

    messages: list[Any] = [{"role": "user", "content": FIRST}]
    first = ask(messages)
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert (first.content[0].thinking, first.content[0].signature) == ("I should look it up, twice.", "c2lnbmVk")
    assert first.content[1].text == "Let me look."
    assert [(one.id, one.name, one.input) for one in first.content[2:]] == CALLS
    assert first.stop_reason == "tool_use"
    usage = first.usage
    assert (usage.input_tokens, usage.output_tokens) == (24, 35)
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (80, 16)

    results = [
        {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": RESULTS["call_1"]}]},
        {"type": "tool_result", "tool_use_id": "call_2", "content": RESULTS["call_2"], "is_error": True},
    ]
    said = [_without_parsed(block.to_dict()) for block in first.content]
    second = ask([*messages, {"role": "assistant", "content": said}, {"role": "user", "content": results}])
    assert second.content[0].text == LONG_TEXT
    assert second.stop_reason == "end_turn"


def test_a_miss_is_a_bad_request_that_is_not_tried_again(
    url: str, answer: Counting, openai_client: openai.OpenAI, anthropic_client: anthropic.Anthropic
) -> None:
    before = answer.requests
    with pytest.raises(openai.BadRequestError) as chat:
        openai_client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": "How many nails?"}],
            tools=chat_tools(),
        )
    assert chat.value.code == "replay_miss"
    reason = 'model turn 1: user: recorded "How many hinges?", now "How many nails?"'
    assert reason in chat.value.message
    assert "good-model, count-stock, prompt plain, sample 0" in chat.value.message
    with pytest.raises(openai.BadRequestError, match=r"model turn 1: user"):
        openai_client.responses.create(
            model=MODEL, instructions=SYSTEM, input="How many nails?", tools=response_tools(), stream=True
        )
    with pytest.raises(anthropic.BadRequestError) as message:
        anthropic_client.messages.create(
            model=MODEL,
            max_tokens=5,
            system=SYSTEM,
            tools=anthropic_tools(),
            messages=[{"role": "user", "content": "How many nails?"}],
        )
    body: Any = message.value.body
    assert (body["error"]["type"], body["error"]["code"]) == ("invalid_request_error", "replay_miss")
    assert reason in body["error"]["message"]
    assert answer.requests == before + 3


def test_models_are_listed_in_the_form_of_the_client(
    openai_client: openai.OpenAI, anthropic_client: anthropic.Anthropic
) -> None:
    assert [model.id for model in openai_client.models.list()] == ["recorded:good-model"]
    assert [model.id for model in anthropic_client.models.list()] == ["recorded:good-model"]
    assert openai_client.models.retrieve("recorded:good-model").owned_by == "passgrid"
    with pytest.raises(anthropic.NotFoundError):
        anthropic_client.models.retrieve("other")


def test_tokens_are_estimated(anthropic_client: anthropic.Anthropic) -> None:
    few = anthropic_client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "a"}])
    many = anthropic_client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "a" * 4_000}])
    assert few.input_tokens + 900 < many.input_tokens < 1_200


async def _limit(asked: Asked, request: HttpRequest) -> ModelResponse:
    raise LimitReached(LimitName.TURNS, "12 turns are the limit")


async def _busy(asked: Asked, request: HttpRequest) -> ModelResponse:
    raise Refused(Refusal(429, "slow down", retry_after_s=0.2))


async def _broken(asked: Asked, request: HttpRequest) -> ModelResponse:
    raise KeyError("/a/secret/path")


def test_a_limit_ends_the_client_and_a_defect_tells_no_internals() -> None:
    with served(_limit) as url:
        client = openai.OpenAI(base_url=url, api_key="none")
        with pytest.raises(openai.BadRequestError, match="12 turns are the limit") as limit:
            client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "x"}])
        assert limit.value.code == "limit_reached"
    with served(_broken) as url:
        broken = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
        with pytest.raises(anthropic.InternalServerError) as defect:
            broken.messages.create(model=MODEL, max_tokens=5, messages=[{"role": "user", "content": "x"}])
        assert "secret" not in str(defect.value)
    with served(_busy) as url:
        client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
        with pytest.raises(openai.RateLimitError) as busy:
            client.responses.create(model=MODEL, input="x")
        assert busy.value.response.headers["retry-after"] == "1"
