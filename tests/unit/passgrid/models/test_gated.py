"""Bought requests: asked for first, settled after, refused ones waited out where that is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from passgrid.endings import AttemptEnded, AttemptStopped
from passgrid.gate import ModelCall, Settlement, ToolCall
from passgrid.meter import Meter
from passgrid.models.metered import GatedModel
from passgrid.scenario import Limits


@dataclass
class Notebook:
    """A gate that lets everything through and writes it down."""

    waits_for_providers: bool = True
    begun: list[ModelCall | ToolCall] = field(default_factory=list[ModelCall | ToolCall])
    settled: list[Settlement] = field(default_factory=list[Settlement])
    stops: bool = False
    waited_s: float = 0.0

    async def begin(self, call: ModelCall | ToolCall) -> Notebook:
        """Write down what is asked for."""
        if self.stops:
            raise AttemptStopped("", "the run was cancelled")
        self.begun.append(call)
        await asyncio.sleep(self.waited_s)
        return self

    async def settle(self, settlement: Settlement) -> None:
        """Write down what came of it."""
        self.settled.append(settlement)


Answer = Callable[[int], ModelResponse]


def answering(
    *answers: ModelResponse | Exception,
) -> Callable[[list[ModelMessage], AgentInfo], Awaitable[ModelResponse]]:
    left = list(answers)

    async def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        said = left.pop(0)
        if isinstance(said, Exception):
            raise said
        return said

    return answer


def done() -> ModelResponse:
    usage = RequestUsage(input_tokens=1000, output_tokens=100)
    return ModelResponse([TextPart("done")], usage=usage, model_name="gpt-4o", provider_name="openai")


def limited() -> Exception:
    return ModelHTTPError.for_category(
        ModelRateLimitError, status_code=429, model_name="gpt-4o", headers={"retry-after": "2"}
    )


async def request(
    gate: Notebook, *answers: ModelResponse | Exception, answered: str = "live", max_tokens: int | None = 200
) -> tuple[ModelResponse, Meter]:
    meter = Meter(Limits())
    wrapped = FunctionModel(answering(*answers), model_name="gpt-4o")
    model = GatedModel(wrapped, meter, answered, gate, "openai:gpt-4o", "openai-chat")
    settings: ModelSettings | None = None if max_tokens is None else ModelSettings(max_tokens=max_tokens)
    messages: list[ModelMessage] = [ModelRequest([UserPromptPart("hello")])]
    return await model.request(messages, settings, ModelRequestParameters()), meter


async def test_a_request_is_asked_for_with_its_worst_case_and_settled_with_its_cost() -> None:
    gate = Notebook()
    _, meter = await request(gate, done())
    (call,) = gate.begun
    assert isinstance(call, ModelCall)
    assert call.provider == "openai:default"
    assert call.tokens > 200
    (settlement,) = gate.settled
    assert (settlement.status, settlement.cost_source, settlement.tokens) == ("ok", "prices", 1100)
    assert settlement.cost_usd == pytest.approx(1000 * 2.5e-6 + 100 * 10e-6)
    assert meter.model_calls[0].cost_source == "prices"


async def test_a_scripted_model_counts_against_no_provider_and_costs_nothing() -> None:
    gate = Notebook()
    await request(gate, done(), answered="scripted")
    (call,) = gate.begun
    assert isinstance(call, ModelCall)
    assert (call.provider, call.worst_case_usd) == (None, 0.0)
    assert gate.settled == [Settlement("ok", 0.0, "free", 0)]


async def test_without_a_bound_on_the_output_there_is_no_worst_case() -> None:
    gate = Notebook()
    await request(gate, done(), max_tokens=None)
    (call,) = gate.begun
    assert isinstance(call, ModelCall)
    assert call.worst_case_usd is None


async def test_a_rate_limit_is_waited_out_and_told_to_the_gate() -> None:
    gate = Notebook()
    response, meter = await request(gate, limited(), limited(), done())
    assert response.parts == [TextPart("done")]
    assert [one.status for one in gate.settled] == ["rate_limit", "rate_limit", "ok"]
    assert gate.settled[0] == Settlement("rate_limit", 0.0, "provider", 0, 2.0)
    assert meter.turns == 1, "refused requests are no turns"


async def test_with_one_try_a_rate_limit_ends_it() -> None:
    with pytest.raises(ModelRateLimitError):
        await request(Notebook(waits_for_providers=False), limited(), done())


@pytest.mark.parametrize(
    ("error", "status", "cost"),
    [
        (ModelHTTPError.for_category(ModelAuthenticationError, status_code=401, model_name="m"), "authentication", 0.0),
        (ModelConnectionError("m", "reset by peer"), "connection", None),
    ],
)
async def test_an_answered_error_costs_nothing_and_an_unanswered_one_its_worst_case(
    error: ModelAPIError, status: str, cost: float | None
) -> None:
    gate = Notebook()
    with pytest.raises(type(error)):
        await request(gate, error)
    (settlement,) = gate.settled
    assert (settlement.status, settlement.cost_usd) == (status, cost)


async def test_a_request_the_gate_refuses_is_not_made_and_no_turn() -> None:
    meter = Meter(Limits())
    model = GatedModel(FunctionModel(answering()), meter, "live", Notebook(stops=True), "m", "openai")
    with pytest.raises(AttemptEnded):
        await model.request([ModelRequest([UserPromptPart("hello")])], None, ModelRequestParameters())
    assert meter.turns == 0
    assert isinstance(meter.ended, AttemptStopped)


async def test_waiting_for_a_provider_is_no_work() -> None:
    gate = Notebook(waited_s=0.2)
    _, meter = await request(gate, done())
    assert meter.waited_s >= 0.2
    assert meter.now_ms() / 1000 - meter.working_s() >= 0.19


async def test_the_cost_a_provider_reports_goes_before_the_price_table() -> None:
    gate = Notebook()
    response = done()
    response.provider_details = {"cost": 0.0042}
    await request(gate, response)
    assert (gate.settled[0].cost_usd, gate.settled[0].cost_source) == (0.0042, "provider")


async def test_a_request_that_is_cancelled_under_way_is_a_turn_with_unknown_usage() -> None:
    async def never(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.sleep(60)
        raise AssertionError("it is cancelled before")

    meter = Meter(Limits())
    model = GatedModel(FunctionModel(never), meter, "live", Notebook(), "openai:gpt-4o", "openai-chat")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(
            model.request([ModelRequest([UserPromptPart("hi")])], None, ModelRequestParameters()), 0.05
        )
    (call,) = meter.model_calls
    assert (call.turn, call.answered) == (1, "live")
    assert (call.input_tokens, call.output_tokens, call.cost_usd, call.finish_reason) == (None, None, None, None)
    assert call.duration_ms > 0


async def test_a_request_that_was_not_let_through_yet_is_no_turn() -> None:
    meter = Meter(Limits())
    model = GatedModel(
        FunctionModel(answering(done())), meter, "live", Notebook(waited_s=60), "openai:gpt-4o", "openai-chat"
    )
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(
            model.request([ModelRequest([UserPromptPart("hi")])], None, ModelRequestParameters()), 0.05
        )
    assert meter.model_calls == []
