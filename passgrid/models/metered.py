"""Every model request passes here: counted against the limits, let through by the gate, timed, and kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic_ai.exceptions import ModelRateLimitError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from passgrid.endings import AttemptEnded
from passgrid.failures import failure_kind
from passgrid.gate import Gate, ModelCall, Settlement, Ticket
from passgrid.meter import Meter
from passgrid.models.prices import cost_of, most_input_tokens, price_of
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
            response = await self._answer(turn, messages, model_settings, model_request_parameters)
        except AttemptEnded as ending:
            # The turn was never given: it is not one of the attempt's.
            self._meter.turns -= 1
            raise self._meter.end(ending) from None
        self._meter.model_calls.append(_record(response, turn, self._answered, started, self._meter.now_ms()))
        return response

    async def _answer(
        self,
        turn: int,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        started = self._meter.now_ms()
        try:
            return await self.wrapped.request(messages, settings, parameters)
        except asyncio.CancelledError:
            # It may well be paid for, and nobody was told what it used.
            self._meter.model_calls.append(_unanswered(turn, self._answered, started, self._meter.now_ms()))
            raise


class GatedModel(MeteredModel):
    """A metered model whose requests are bought: each asks the gate first and settles afterwards."""

    def __init__(self, wrapped: Model, meter: Meter, answered: str, gate: Gate, name: str, provider: str) -> None:
        super().__init__(wrapped, meter, answered)
        self._gate = gate
        self._name = name
        self._limited_by = None if answered == "scripted" else f"{provider.partition('-')[0]}:{account_of(wrapped)}"

    async def _answer(
        self,
        turn: int,
        messages: list[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> ModelResponse:
        call = self._call(messages, settings, parameters)
        while True:
            with self._meter.waiting():
                ticket = await self._gate.begin(call)
            try:
                response = await super()._answer(turn, messages, settings, parameters)
            except ModelRateLimitError as error:
                await _settle_failure(ticket, error)
                if not self._gate.waits_for_providers:
                    raise
                # Refused requests are not bought: the gate keeps this one back until the provider takes it.
                continue
            except Exception as error:
                await _settle_failure(ticket, error)
                raise
            await ticket.settle(_settlement(response, free=self._limited_by is None))
            return response

    def _call(
        self, messages: list[ModelMessage], settings: ModelSettings | None, parameters: ModelRequestParameters
    ) -> ModelCall:
        if self._limited_by is None:
            return ModelCall(self._name, None, 0, 0.0)
        most_in = most_input_tokens(messages, parameters)
        bounds = cast(Mapping[str, Any], settings or {})
        most_out: int | None = bounds.get("max_tokens")
        worst = None if most_out is None else price_of(self.wrapped, most_in, most_out)
        return ModelCall(self._name, self._limited_by, most_in + (most_out or 0), worst)


def account_of(model: Model) -> str:
    """A short name for the key a model is bought with, the same in every process, from which no key can be told."""
    key = getattr(getattr(model, "client", None), "api_key", None)
    return hashlib.sha256(key.encode()).hexdigest()[:8] if isinstance(key, str) and key else "default"


async def _settle_failure(ticket: Ticket, error: Exception) -> None:
    """An answer with an error status costs nothing; where none came, the worst case counts."""
    kind = failure_kind(error)
    answered = hasattr(error, "status_code")
    await ticket.settle(
        Settlement(
            status=kind,
            cost_usd=0.0 if answered else None,
            cost_source="provider" if answered else None,
            tokens=0 if answered else None,
            retry_after_s=getattr(error, "retry_after", None),
        )
    )


def _settlement(response: ModelResponse, *, free: bool) -> Settlement:
    if free:
        return Settlement("ok", 0.0, "free", 0)
    usage = _usage(response)
    tokens = None if usage.input is None or usage.output is None else usage.input + usage.output
    return Settlement("ok", usage.cost_usd, usage.cost_source, tokens)


@dataclass(frozen=True, slots=True)
class _Usage:
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    cost_usd: float | None
    cost_source: str | None


def _usage(response: ModelResponse) -> _Usage:
    used = response.usage
    if not used.has_values():
        return _Usage(None, None, None, None, None, None)
    return _Usage(
        used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens, *cost_of(response)
    )


def _record(response: ModelResponse, turn: int, answered: str, started: float, ended: float) -> ModelCallRecord:
    recorded: dict[str, Any] | None = (response.provider_details or {}).get("passgrid")
    if recorded is not None:
        then: dict[str, int | None] = recorded.get("usage") or {}
        cost = recorded.get("cost_usd")
        counts = [then.get(name) for name in ("input", "output", "cache_read", "cache_write")]
        usage = _Usage(counts[0], counts[1], counts[2], counts[3], cost, None if cost is None else "recorded")
        finish = recorded.get("finish")
    else:
        usage = _usage(response)
        finish = response.finish_reason
    return ModelCallRecord(
        turn=turn,
        answered=answered,
        served_model=response.model_name,
        finish_reason=finish,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cost_usd=usage.cost_usd,
        cost_source=usage.cost_source,
        started_ms=started,
        duration_ms=round(ended - started, 3),
    )


def _unanswered(turn: int, answered: str, started: float, ended: float) -> ModelCallRecord:
    return ModelCallRecord(
        turn=turn,
        answered=answered,
        served_model=None,
        finish_reason=None,
        input_tokens=None,
        output_tokens=None,
        cache_read_tokens=None,
        cache_write_tokens=None,
        cost_usd=None,
        started_ms=started,
        duration_ms=round(ended - started, 3),
    )
