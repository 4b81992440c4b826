"""The model side of an agent's gateway: the arm's model answers, whatever name a request says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from passgrid.agents.said import Said
from passgrid.agents.tool_names import ToolNames
from passgrid.endings import AttemptEnded
from passgrid.meter import Meter
from passgrid.model_api.asked import Asked
from passgrid.model_reference import ModelReference
from passgrid.models.live import live_settings
from passgrid.tools.way import ToolWay
from passgrid.wire.http import HttpRequest


class ModelTurns:
    """Answers the model requests of one program, and keeps what was said."""

    def __init__(
        self,
        model: Model,
        reference: ModelReference,
        meter: Meter,
        way: ToolWay,
        said: Said,
        broke: Callable[[Exception], None],
    ) -> None:
        """model: metered. way: knows the tools. broke: told of an error that says nothing about the agent."""
        self._model = model
        self._meter = meter
        limited = meter.limits.tokens is not None or meter.limits.cost_usd is not None
        # What a request uses is known afterwards: of several at once, each would begin before the limit.
        self._turn = asyncio.Lock() if limited else contextlib.nullcontext()
        self._live = not (reference.recorded or reference.scripted)
        self._settings = live_settings(reference) or ModelSettings()
        self._way = way
        self._said = said
        self._broke = broke

    async def __call__(self, asked: Asked, request: HttpRequest) -> ModelResponse:
        """The next turn. Raises what ends the attempt, and what breaks in the infrastructure."""
        async with self._turn:
            return await self._answer(asked)

    async def _answer(self, asked: Asked) -> ModelResponse:
        servers = {name: tool.server for name, tool in self._way.offered.items()}
        names = ToolNames(servers, [tool.name for tool in asked.parameters.function_tools])
        sent = names.plain(asked.messages)
        said = self._said.ask(sent)
        # The settings of the arm are an axis: they go before the program's own.
        settings: ModelSettings = {**asked.settings, **self._settings}
        try:
            if self._live:
                response = await self._model.request(asked.messages, settings, asked.parameters)
            else:
                # A recording or policy looks at all that was said, and knows the scenario's tools alone.
                response = await self._model.request(said, settings, names.offered(asked.parameters))
        except AttemptEnded:
            raise
        except Exception as error:
            self._broke(error)
            raise
        [plain] = names.plain([response])
        assert isinstance(plain, ModelResponse), "a turn stays one"
        self._said.answer(plain, sent)
        self._meter.check_spent()
        return names.shown(plain)
