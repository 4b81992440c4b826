"""Every model request passes here: counted against the limits, timed, and kept."""

from __future__ import annotations

from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from passgrid.endings import AttemptEnded
from passgrid.meter import Meter
from passgrid.transcript import ModelCallRecord


class MeteredModel(WrapperModel):
    """Wraps any model. Ends the attempt through the meter at a limit, a miss or the end of a recording."""

    def __init__(self, wrapped: Model, meter: Meter, answered: str) -> None:
        super().__init__(wrapped)
        self._meter = meter
        self._answered = answered

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One model turn."""
        turn = self._meter.begin_turn()
        started = self._meter.now_ms()
        try:
            response = await self.wrapped.request(messages, model_settings, model_request_parameters)
        except AttemptEnded as ending:
            # The turn was never given: it is not one of the attempt's.
            self._meter.turns -= 1
            raise self._meter.end(ending) from None
        self._meter.model_calls.append(_record(response, turn, self._answered, started, self._meter.now_ms()))
        return response


def _record(response: ModelResponse, turn: int, answered: str, started: float, ended: float) -> ModelCallRecord:
    recorded: dict[str, Any] | None = (response.provider_details or {}).get("passgrid")
    if recorded is not None:
        usage: dict[str, int | None] = recorded.get("usage") or {}
        counts = [usage.get(name) for name in ("input", "output", "cache_read", "cache_write")]
        cost = recorded.get("cost_usd")
        finish = recorded.get("finish")
    else:
        used = response.usage
        known = used.has_values()
        read = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
        counts = list(read) if known else [None] * 4
        cost = _cost(response) if known else None
        finish = response.finish_reason
    return ModelCallRecord(
        turn=turn,
        answered=answered,
        served_model=response.model_name,
        finish_reason=finish,
        input_tokens=counts[0],
        output_tokens=counts[1],
        cache_read_tokens=counts[2],
        cache_write_tokens=counts[3],
        cost_usd=cost,
        started_ms=started,
        duration_ms=round(ended - started, 3),
    )


def _cost(response: ModelResponse) -> float | None:
    """US dollars by the price table; None for a model it does not know: unknown is not zero."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
