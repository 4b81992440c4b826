"""Model requests of an agent program against the limits of its attempt."""

from __future__ import annotations

import asyncio

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from passgrid.agents.model_turns import ModelTurns
from passgrid.agents.said import Said
from passgrid.endings import LimitReached
from passgrid.meter import Meter
from passgrid.model_api.asked import Asked
from passgrid.model_reference import parse_model_reference
from passgrid.models.metered import MeteredModel
from passgrid.scenario import Limits
from passgrid.tools.way import NoTools, ToolWay
from passgrid.wire.http import HttpRequest

A_REQUEST = HttpRequest("POST", "/v1/chat/completions", b"", ())


class Slow:
    """A model that uses 100 tokens a turn, and counts how many it is asked for at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0

    async def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        return ModelResponse([TextPart("yes")], usage=RequestUsage(input_tokens=90, output_tokens=10))


def turns(limits: Limits) -> tuple[ModelTurns, Meter, Slow]:
    meter, slow = Meter(limits), Slow()
    model = MeteredModel(FunctionModel(slow.answer), meter, "live")
    way = ToolWay(NoTools(), meter)
    return (
        ModelTurns(model, parse_model_reference("openai:gpt-4o"), meter, way, Said(), lambda error: None),
        meter,
        slow,
    )


def asked(text: str) -> Asked:
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart(text)])]
    return Asked("chat", "gpt", messages, ModelRequestParameters(), ModelSettings(), stream=False, identity=text)


async def all_at_once(asking: ModelTurns, count: int) -> list[ModelResponse | BaseException]:
    return await asyncio.gather(*(asking(asked(f"{i}"), A_REQUEST) for i in range(count)), return_exceptions=True)


@pytest.mark.parametrize("limits", [Limits(tokens=250), Limits(tokens=200)])
async def test_requests_at_once_do_not_go_past_a_limit_on_tokens(limits: Limits) -> None:
    asking, meter, slow = turns(limits)
    answers = await all_at_once(asking, 8)
    assert slow.most == 1
    assert sum(isinstance(one, LimitReached) for one in answers) == 6
    assert isinstance(meter.ended, LimitReached)


async def test_the_answer_that_goes_past_a_limit_ends_the_attempt() -> None:
    asking, meter, _ = turns(Limits(tokens=99))
    with pytest.raises(LimitReached, match="100 of 99 tokens are used"):
        await asking(asked("hello"), A_REQUEST)
    assert (len(meter.model_calls), isinstance(meter.ended, LimitReached)) == (1, True)


async def test_the_answer_that_uses_all_of_it_ends_nothing_by_itself() -> None:
    asking, meter, _ = turns(Limits(tokens=100))
    await asking(asked("hello"), A_REQUEST)
    assert meter.ended is None


async def test_without_such_a_limit_requests_go_on_beside_each_other() -> None:
    asking, _, slow = turns(Limits())
    await all_at_once(asking, 4)
    assert slow.most == 4
