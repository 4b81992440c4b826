"""Who gives a model turn: fixtures, then recordings, then a live model; every turn is kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model
from pydantic_core import from_json, to_json

from api.gateway.loaded_fixtures import LoadedFixtures
from passgrid.endings import ReplayMiss
from passgrid.model_api.asked import Asked
from passgrid.model_api.fixture_serving import FixtureTurns
from passgrid.model_api.recorded_turns import RecordedTurns
from passgrid.model_reference import ModelReference
from passgrid.models.prices import cost_of
from passgrid.redaction import Redactor
from passgrid.storable import storable
from passgrid.warehouse.gateway_models import ModelTurn, keep_turn
from passgrid.wire.http import HttpRequest
from passgrid.wire.mcp_identity import request_identity


@dataclass(frozen=True)
class ModelSources:
    """What a gateway's model turns come from after the fixtures that are loaded; whichever is there, in this order."""

    recordings: RecordedTurns | None = None
    live: tuple[Model, ModelReference] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the list of models tells."""
        live = (str(self.live[1]),) if self.live is not None else ()
        return (*(self.recordings.models if self.recordings is not None else ()), *live)


NO_SOURCES = ModelSources()


class ModelTurns:
    """Answers the model APIs. A miss is never a live call: only where there is no recording is a live model asked."""

    def __init__(
        self, sources: ModelSources, fixtures: LoadedFixtures, engine: sa.Engine, space: str, redact: Redactor
    ) -> None:
        self._sources = sources
        self._fixtures = fixtures
        self._engine = engine
        self._space = space
        self._redact = redact

    async def __call__(self, asked: Asked, request: HttpRequest) -> ModelResponse:
        """The turn. Raises what the source raises."""
        started = time.perf_counter()
        answered = "fixture"
        response: ModelResponse | None = None
        error: str | None = None
        try:
            answered, given = await self._turn(asked, request)
            response = given
        except Exception as failure:
            error = str(failure)[:2000]
            raise
        finally:
            took = round((time.perf_counter() - started) * 1000, 3)
            turn = self._kept(asked, request, answered, response, error, took)
            await asyncio.to_thread(self._keep, turn)
        return given

    async def _turn(self, asked: Asked, request: HttpRequest) -> tuple[str, ModelResponse]:
        missed: ReplayMiss | None = None
        replays: Sequence[tuple[str, FixtureTurns | RecordedTurns | None]] = (
            ("fixture", await self._fixtures.now()),
            ("recorded", self._sources.recordings),
        )
        for answered, source in replays:
            if source is None:
                continue
            try:
                return answered, await source(asked, request)
            except ReplayMiss as miss:
                missed = miss
        if missed is not None:
            raise missed
        if self._sources.live is None:
            raise ReplayMiss("this gateway serves no model: start it with --recordings, fixtures or --model")
        model, reference = self._sources.live
        settings = {**asked.settings, **dict(reference.settings), "max_retries": 0}
        return "live", await model.request(asked.messages, settings, asked.parameters)  # pyright: ignore[reportArgumentType]

    def _kept(
        self,
        asked: Asked,
        request: HttpRequest,
        answered: str,
        response: ModelResponse | None,
        error: str | None,
        took: float,
    ) -> ModelTurn:
        usage = response.usage if response is not None and response.usage.has_values() else None
        return ModelTurn(
            test_id=request_identity(request).test_id,
            model=asked.model,
            answered=answered,
            asked=self._json(asked.messages),
            answer=None if response is None else self._json([_plain(response)]),
            error=None if error is None else self._redact.text(error),
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            cost_usd=cost_of(response)[0] if response is not None else None,
            duration_ms=took,
        )

    def _keep(self, turn: ModelTurn) -> None:
        with self._engine.connect() as connection:
            keep_turn(connection, self._space, turn)

    def _json(self, messages: Sequence[ModelMessage]) -> str:
        value = from_json(ModelMessagesTypeAdapter.dump_json(list(messages)))
        return to_json(storable(self._redact.value(value))).decode()


def _plain(response: ModelResponse) -> ModelResponse:
    """Without the recorded step it came from, which is no part of what a model says."""
    details = {name: value for name, value in (response.provider_details or {}).items() if name != "passgrid"}
    return replace(response, provider_details=details or None)
