"""A whole agent loop, made by others, runs over the wire on a recording."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, ToolFailed
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from passgrid.model_api.asked import Asked
from passgrid.model_api.recorded_turns import RecordedTurns
from passgrid.wire.http import HttpRequest
from tests.unit.passgrid.model_api.recording import ARTICLE, LONG_TEXT, SYSTEM, recorded
from tests.unit.passgrid.model_api.serving import served


def model_at(url: str, api: str) -> Model:
    if api == "messages":
        client = AsyncAnthropic(base_url=url, api_key="none")
        return AnthropicModel("claude-x", provider=AnthropicProvider(anthropic_client=client))
    provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{url}/v1", api_key="none"))
    return (
        OpenAIChatModel("gpt-x", provider=provider)
        if api == "chat"
        else OpenAIResponsesModel("gpt-x", provider=provider)
    )


async def _listen(_: Any, events: AsyncIterable[Any]) -> None:
    """Somebody who listens makes the agent ask for streams."""
    async for _event in events:
        pass


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
async def test_an_agent_runs_on_a_recording(api: str, stream: bool) -> None:
    asked: list[str] = []
    with served(RecordedTurns([recorded()])) as url:
        agent = Agent(model_at(url, api), system_prompt=SYSTEM)

        @agent.tool_plain
        def get_article(sku: str) -> dict[str, Any]:
            asked.append(sku)
            return ARTICLE

        @agent.tool_plain
        def get_price(sku: str, note: str) -> float:
            asked.append(note)
            raise ToolFailed("no price")

        result = await agent.run("How many hinges?", event_stream_handler=_listen if stream else None)
        usage = result.usage
        assert result.output == LONG_TEXT
        assert sorted(asked) == ["HINGE-40", "ü" * 40]
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (240, 70, 160)


@pytest.mark.parametrize("front", ["chat", "responses", "messages"])
@pytest.mark.parametrize("back", ["chat", "responses", "messages"])
async def test_a_live_model_answers_whatever_api_was_asked(front: str, back: str) -> None:
    # The agent library tells one provider's thinking to another as a user turn, which is its affair.
    with served(RecordedTurns([recorded(thinking=False)])) as live:

        async def answer(asked: Asked, _: HttpRequest) -> ModelResponse:
            return await model_at(live, back).request(asked.messages, asked.settings, asked.parameters)

        with served(answer) as url:
            agent = Agent(model_at(url, front), system_prompt=SYSTEM)

            @agent.tool_plain
            def get_article(sku: str) -> dict[str, Any]:
                return ARTICLE

            @agent.tool_plain
            def get_price(sku: str, note: str) -> float:
                raise ToolFailed("no price")

            result = await agent.run("How many hinges?")
            assert result.output == LONG_TEXT
            assert (result.usage.input_tokens, result.usage.cache_read_tokens) == (240, 160)
            with pytest.raises(ModelHTTPError, match="model turn 1: user") as miss:
                await agent.run("How many nails?")
            assert miss.value.status_code == 400
