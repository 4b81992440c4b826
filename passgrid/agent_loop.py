"""The agent loop of one attempt: which model, which tools, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import BrokenCassette
from passgrid.conversation import Conversation, converse, converse_as_recorded
from passgrid.deadline import Deadline
from passgrid.endings import AttemptStopped, LimitReached, RecordingEnded, ReplayMiss
from passgrid.failure_kinds import CONTEXT_OVERFLOW
from passgrid.failures import failure_kind
from passgrid.matrix import Mode
from passgrid.meter import Meter
from passgrid.models.live import UnusableModel, live_model, live_settings
from passgrid.models.metered import GatedModel, MeteredModel
from passgrid.models.recorded import RecordedModel
from passgrid.models.scripted import POLICIES_FILE, POLICY_MARK, ScriptedModel
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.redaction import Redactor
from passgrid.suite_code import BrokenSuiteCode, SuiteCode
from passgrid.tools.recorded import RecordedTools
from passgrid.tools.way import UNLIMITED_RETRIES, NoTools, ToolNameConflict, ToolSource, ToolWay


class AgentLoop:
    """The agent loop of one attempt."""

    def __init__(self, order: AttemptOrder, meter: Meter, code: SuiteCode, redactor: Redactor) -> None:
        self._order = order
        self._redactor = redactor
        self._meter = meter
        self._code = code
        self._way: ToolWay | None = None
        self._conversation: Conversation | None = None

    @property
    def messages(self) -> list[ModelMessage]:
        """Everything said so far, whatever the ending."""
        return self._conversation.messages if self._conversation else []

    def offered(self) -> list[dict[str, Any]]:
        """The tools the agent was offered, as a server lists them."""
        tools = self._way.offered.values() if self._way else ()
        return [
            {
                "server": tool.server,
                "name": tool.definition.name,
                "description": tool.definition.description,
                "inputSchema": tool.definition.parameters_json_schema,
            }
            for tool in tools
        ]

    async def run(self, folder: Path | None) -> Outcome:
        """Run to the end and say how it ended; the meter's reason goes before whatever the agent library made of it."""
        deadline = Deadline(self._order.scenario.limits, self._meter)
        try:
            async with deadline:
                await self._loop(folder)
        except Exception as error:  # noqa: BLE001 - an attempt always ends in an outcome
            if isinstance(error, TimeoutError) and deadline.passed:
                return deadline.outcome()
            return self._ended() or _broken(error)
        return self._ended() or Outcome(OutcomeKind.PASSED)

    def _ended(self) -> Outcome | None:
        match self._meter.ended:
            case LimitReached(limit=limit) as ending:
                return Outcome(OutcomeKind.LIMIT, limit, str(ending))
            case ReplayMiss() as ending:
                return Outcome(OutcomeKind.REPLAY_MISS, reason=str(ending))
            case AttemptStopped(detail=detail) as ending:
                return Outcome(OutcomeKind.CANCELLED, detail, str(ending))
            case RecordingEnded():
                return Outcome(OutcomeKind.PASSED)
            case _:
                return None

    async def _loop(self, folder: Path | None) -> None:
        model, recorded = self._model()
        async with self._source(folder) as source:
            self._way = ToolWay(source, self._meter, self._order.scenario.tools, self._order.gate, self._redactor.value)
            agent: Agent[None, str] = Agent(
                self._metered(model),
                system_prompt=self._order.prompt.text or (),
                toolsets=[self._way],
                model_settings=live_settings(self._order.model),
                retries=UNLIMITED_RETRIES,
            )
            self._conversation = Conversation(agent)
            turns = self._order.scenario.user_turns
            if turns is not None:
                await converse(self._conversation, turns)
            elif recorded is not None and self._order.cassette is not None:
                await converse_as_recorded(self._conversation, recorded, self._order.cassette)
            else:
                raise BrokenCassette("the scenario takes its user turns from a cassette, and there is none")

    def _model(self) -> tuple[Model, RecordedModel | None]:
        reference = self._order.model
        if reference.recorded:
            if self._order.cassette is None:
                raise BrokenCassette(f"no cassette for sample {self._order.sample} of {reference}")
            recorded = RecordedModel(self._order.cassette)
            return recorded, recorded
        if reference.scripted:
            policies = self._code.marked(POLICIES_FILE, POLICY_MARK)
            if reference.name not in policies:
                raise BrokenSuiteCode(f"{POLICIES_FILE} has no policy {reference.name}")
            name = self._order.scenario.name
            return ScriptedModel(reference.name, policies[reference.name], name, self._order.attempt_id), None
        return live_model(reference), None

    def _metered(self, model: Model) -> MeteredModel:
        reference = self._order.model
        if reference.recorded:
            return MeteredModel(model, self._meter, "recorded")
        answered = "scripted" if reference.scripted else "live"
        return GatedModel(model, self._meter, answered, self._order.gate, str(reference), reference.provider)

    @contextlib.asynccontextmanager
    async def _source(self, folder: Path | None) -> AsyncGenerator[ToolSource]:
        if self._order.mode is Mode.REPLAY:
            if self._order.cassette is None:
                raise BrokenCassette(f"no cassette for sample {self._order.sample}")
            yield RecordedTools(self._order.cassette)
        elif not self._order.scenario.mcp_servers:
            yield NoTools()
        else:
            # The client of live servers takes seconds to import: only where there are any.
            from passgrid.tools.live import live_tools

            servers = self._order.scenario.mcp_servers
            async with live_tools(servers, self._order.suite_folder, folder, self._redactor) as tools:
                yield tools


def _broken(error: Exception) -> Outcome:
    """The infrastructure broke, or the agent library gave up."""
    kinds: list[tuple[type[Exception], str]] = [
        (BrokenCassette, "cassette"),
        (BrokenSuiteCode, "suite_code"),
        (UnusableModel, "model"),
        (ToolNameConflict, "tool_names"),
    ]
    kind = next((name for kind, name in kinds if isinstance(error, kind)), None) or failure_kind(error)
    if kind == CONTEXT_OVERFLOW:
        return Outcome(OutcomeKind.LIMIT, LimitName.TOKENS, f"the model's context window is full: {error}"[:500])
    return Outcome(OutcomeKind.INFRA_ERROR, kind, f"{type(error).__name__}: {error}"[:500])
