"""The agent loop of one attempt: which model, which tools, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model

from passgrid.aftermath.aftermath import Aftermath
from passgrid.aftermath.asking import AskedInVain, AsksServers
from passgrid.aftermath.states import FreshServers
from passgrid.agent_command import AgentCommand
from passgrid.agents.program import NoNamespace, Unstartable
from passgrid.agents.serving import NotServed
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import BrokenCassette, Step
from passgrid.cassettes.recorder import recorded_steps
from passgrid.conversation import Conversation, converse, converse_as_recorded
from passgrid.deadline import Deadline
from passgrid.drift.account import DriftAccount
from passgrid.endings import AgentFailed, AttemptStopped, LimitReached, RecordingEnded, ReplayMiss
from passgrid.failure_kinds import CONTEXT_OVERFLOW
from passgrid.failures import failure_kind
from passgrid.ledger import NAMESPACE
from passgrid.matrix import Mode
from passgrid.meter import Meter
from passgrid.model_reference import ModelReference
from passgrid.models.live import UnusableModel, live_model, live_settings
from passgrid.models.metered import GatedModel, MeteredModel
from passgrid.models.recorded import RecordedModel
from passgrid.models.scripted import POLICIES_FILE, POLICY_MARK, ScriptedModel
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.redaction import Redactor
from passgrid.scenario import Limits
from passgrid.scoring.afterwards import NOTHING
from passgrid.scoring.evidence import Evidence
from passgrid.scoring.judging import judgement
from passgrid.server import FakedServer, HttpServer, mounts_of
from passgrid.suite_code import BrokenSuiteCode, SuiteCode
from passgrid.tools.drifting import DriftingTools
from passgrid.tools.recorded import RecordedTools
from passgrid.tools.sessions import Surroundings
from passgrid.tools.way import UNLIMITED_RETRIES, NotDedicated, NoTools, ToolNameConflict, ToolSource, ToolWay
from passgrid.workspaces.attempt_workspace import Place

if TYPE_CHECKING:
    from passgrid.agents.command_agent import CommandAgent
    from passgrid.tools.faking import FakingTools

UNLIMITED = Limits(model_turns=None, tool_calls=None, seconds=None)
"""Of a judge: what it uses is bought from the run's budget, and counts against no limit of the attempt."""


class AgentLoop:
    """The agent loop of one attempt."""

    def __init__(self, order: AttemptOrder, meter: Meter, code: SuiteCode, redactor: Redactor) -> None:
        self._order = order
        self._redactor = redactor
        self._meter = meter
        self._code = code
        self._way: ToolWay | None = None
        self._drifting: DriftingTools | None = None
        self._recorded: RecordedTools | None = None
        self._servers: AsksServers | None = None
        self.afterwards = NOTHING
        """What was found on the platform after the agent was done."""
        self._conversation: Conversation | None = None
        self._command: CommandAgent | None = None
        self._faking: FakingTools | None = None

    @property
    def messages(self) -> list[ModelMessage]:
        """Everything said so far, whatever the ending."""
        if self._command is not None:
            return self._command.messages
        return self._conversation.messages if self._conversation else []

    def recorded_steps(self) -> tuple[tuple[Step, ...], dict[str, Any]]:
        """What happened as the steps of a cassette, and how long they took."""
        if self._command is not None:
            return self._command.recorded_steps()
        return recorded_steps(self.messages, self._meter)

    def system(self) -> str | None:
        """The system prompt the model was given."""
        if self._command is not None:
            return self._command.system
        return self._order.prompt.text or None

    def offered(self) -> list[dict[str, Any]]:
        """The tools the agent was offered, as a server lists them."""
        return [tool.listed() for tool in self._way.offered.values()] if self._way else []

    def drift(self) -> DriftAccount | None:
        """What was found by comparing live answers with recorded ones; None where nothing is compared."""
        return self._drifting.account() if self._drifting else None

    def recorded_end(self) -> Mapping[str, Any] | None:
        """In the mode sandbox: the files a recording ended with in the state the session is in; None: nobody knows."""
        return self._recorded.end_workspace() if self._recorded else None

    async def second_opinion(self, evidence: Evidence) -> dict[str, Any]:
        """What the scenario's judge says of the attempt. Its requests pass the gate like the agent's."""
        judge = self._order.scenario.judge
        assert judge is not None, "only asked where there is one"
        reference = judge.reference
        meter = Meter(UNLIMITED)
        try:
            wrapped = self._policy(reference) if reference.scripted else live_model(reference)
        except (BrokenSuiteCode, UnusableModel) as error:
            return {"prompt_hash": judge.prompt_hash, "model": judge.model, "error": str(error)}
        answered = "scripted" if reference.scripted else "live"
        model = GatedModel(wrapped, meter, answered, self._order.gate, str(reference), reference.provider)
        return await judgement(judge, evidence, model, live_settings(reference))

    def stop(self, ending: AttemptStopped) -> None:
        """End the attempt from outside. From its event loop."""
        self._meter.end(ending)
        if self._command is not None:
            self._command.stop()

    async def run(self, place: Place | None) -> Outcome:
        """Run to the end and say how it ended; the meter's reason goes before whatever the agent library made of it."""
        deadline = Deadline(self._order.scenario.limits, self._meter)
        try:
            async with deadline:
                await self._loop(place)
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
            case AgentFailed() as ending:
                return Outcome(OutcomeKind.FAILED, reason=str(ending))
            case RecordingEnded():
                return Outcome(OutcomeKind.PASSED)
            case _:
                return None

    async def _loop(self, place: Place | None) -> None:
        model, recorded = self._model()
        async with self._source(place) as source:
            self._way = ToolWay(
                self._with_fakes(source),
                self._meter,
                self._order.scenario.tools,
                self._order.gate,
                self._redactor.value,
                self._order.scenario.ledger,
            )
            if self._order.scenario.agent is not None:
                await self._run_command(self._order.scenario.agent, self._way, self._metered(model), place)
                return
            agent: Agent[None, str] = Agent(
                self._metered(model),
                system_prompt=self._order.prompt.text or (),
                toolsets=[self._way],
                model_settings=live_settings(self._order.model),
                retries=UNLIMITED_RETRIES,
            )
            self._conversation = Conversation(agent)
            async with self._looked_after(place):
                await self._converse(self._conversation, recorded)

    async def _run_command(self, agent: AgentCommand, way: ToolWay, model: Model, place: Place | None) -> None:
        # It speaks HTTP, which takes a moment to import: only where an agent is a command.
        from passgrid.agents.command_agent import CommandAgent

        self._command = CommandAgent(self._order, agent, self._meter, self._redactor)
        async with self._looked_after(place):
            await self._command.run(way, model, place.folder if place else None)

    async def _converse(self, conversation: Conversation, recorded: RecordedModel | None) -> None:
        turns = self._order.scenario.user_turns
        if turns is not None:
            namespace = self._order.own_namespace
            await converse(conversation, tuple(turn.replace(NAMESPACE, namespace) for turn in turns))
        elif recorded is not None and self._order.cassette is not None:
            await converse_as_recorded(conversation, recorded, self._order.cassette)
        else:
            raise BrokenCassette("the scenario takes its user turns from a cassette, and there is none")

    @contextlib.asynccontextmanager
    async def _looked_after(self, place: Place | None) -> AsyncGenerator[None]:
        """Look at the platform before the conversation and after it, however it ends, and take away what it made."""
        servers, scenario = self._servers, self._order.scenario
        if servers is None or not scenario.looks_afterwards:
            yield
            return
        aftermath = Aftermath(scenario, servers, self._order.own_namespace, self._fresh(place))
        await aftermath.begin()
        try:
            yield
        finally:
            offered = self._way.offered if self._way else {}
            # What the attempt only read is not changed by it, whoever changed it meanwhile.
            reads = {name for name, tool in offered.items() if tool.reads}
            self.afterwards = await aftermath.end([call for call in self._meter.tool_calls if call.tool not in reads])

    def _fresh(self, place: Place | None) -> FreshServers | None:
        """Opens sessions in which nothing happened; None where a server is hosted, and has one state."""
        servers = self._order.scenario.mcp_servers
        if any(isinstance(server, HttpServer) for server in servers.values()):
            return None
        from passgrid.tools.live import live_tools

        return lambda: live_tools(servers, self._around(place), self._order.sessions, must_be_ours=False)

    def _around(self, place: Place | None) -> Surroundings:
        places = {"suite": self._order.suite_folder, "workspace": place.folder if place else None}
        return Surroundings(self._code, self._redactor, places, place.memory if place else None)

    def _model(self) -> tuple[Model, RecordedModel | None]:
        reference = self._order.model
        if reference.recorded:
            if self._order.cassette is None:
                raise BrokenCassette(f"no cassette for sample {self._order.sample} of {reference}")
            recorded = RecordedModel(
                self._order.cassette,
                by_position=self._order.mode is Mode.DRIFT,
                wants_system=self._order.scenario.agent is not None,
            )
            return recorded, recorded
        if reference.scripted:
            return self._policy(reference), None
        return live_model(reference), None

    def _policy(self, reference: ModelReference) -> ScriptedModel:
        """Raises `BrokenSuiteCode` where the suite has no such policy."""
        policies = self._code.marked(POLICIES_FILE, POLICY_MARK)
        if reference.name not in policies:
            raise BrokenSuiteCode(f"{POLICIES_FILE} has no policy {reference.name}")
        name = self._order.scenario.name
        return ScriptedModel(reference.name, policies[reference.name], name, self._order.attempt_id)

    def _metered(self, model: Model) -> MeteredModel:
        reference = self._order.model
        if reference.recorded:
            return MeteredModel(model, self._meter, "recorded")
        answered = "scripted" if reference.scripted else "live"
        return GatedModel(model, self._meter, answered, self._order.gate, str(reference), reference.provider)

    @contextlib.asynccontextmanager
    async def _source(self, place: Place | None) -> AsyncGenerator[ToolSource]:
        built_in = self._order.scenario.agent is None
        if self._order.mode is Mode.REPLAY:
            if self._order.cassette is None:
                raise BrokenCassette(f"no cassette for sample {self._order.sample}")
            yield RecordedTools([self._order.cassette], whole_turns=built_in)
        elif self._order.scenario.all_faked:
            yield NoTools()
        elif self._order.mode is Mode.SANDBOX:
            if not self._order.recordings:
                raise BrokenCassette("no recordings for its tools to answer from")
            self._recorded = RecordedTools(self._order.recordings, self._order.matching, whole_turns=built_in)
            yield self._recorded
        elif not self._order.scenario.mcp_servers:
            yield NoTools()
        else:
            # The client of live servers takes seconds to import: only where there are any.
            from passgrid.tools.live import live_tools

            declared = self._order.scenario.mcp_servers
            servers = {name: one for name, one in declared.items() if not isinstance(one, FakedServer)}
            must_be_ours = self._order.mode is Mode.DRIFT
            around = self._around(place)
            async with live_tools(servers, around, self._order.sessions, must_be_ours=must_be_ours) as tools:
                self._servers = tools
                yield self._compared(tools)

    def _with_fakes(self, source: ToolSource) -> ToolSource:
        """The same tools with the scenario's fakes before them."""
        order = self._order
        if not order.scenario.fakes:
            return source
        # Reads and checks the blocks: only where there are any.
        from passgrid.suite_fakes import loaded_fakes
        from passgrid.tools.faking import FakingTools

        fakes = loaded_fakes(order.scenario.fake_documents)
        mounts = mounts_of(order.scenario.mcp_servers)
        self._faking = FakingTools(source, fakes, mounts, order.own_namespace, order.scenario.name)
        return self._faking

    def refused_by_fakes(self) -> str | None:
        """The first call that the scenario's fakes refused, with what is wrong; None where there was none."""
        if self._faking is None or not self._faking.refused:
            return None
        first, count = self._faking.refused[0], len(self._faking.refused)
        return f"fakes refused {count} call{'s' if count > 1 else ''}, first of {first.tool}: {first.message}"[:1000]

    def _compared(self, tools: ToolSource) -> ToolSource:
        """In drift, the same tools with every answer compared with the recorded one."""
        if self._order.mode is not Mode.DRIFT or self._order.cassette is None:
            return tools
        projections = {name: server.projection for name, server in self._order.scenario.mcp_servers.items()}
        self._drifting = DriftingTools(tools, self._order.cassette, projections)
        return self._drifting


def _broken(error: Exception) -> Outcome:
    """The infrastructure broke, or the agent library gave up."""
    kinds: list[tuple[type[Exception], str]] = [
        (BrokenCassette, "cassette"),
        (BrokenSuiteCode, "suite_code"),
        (UnusableModel, "model"),
        (ToolNameConflict, "tool_names"),
        (NotDedicated, "not_dedicated"),
        (AskedInVain, "ledger"),
        (NoNamespace, "no_namespace"),
        (Unstartable, "agent"),
        (NotServed, "agent"),
    ]
    kind = next((name for kind, name in kinds if isinstance(error, kind)), None) or failure_kind(error)
    if kind == CONTEXT_OVERFLOW:
        return Outcome(OutcomeKind.LIMIT, LimitName.TOKENS, f"the model's context window is full: {error}"[:500])
    return Outcome(OutcomeKind.INFRA_ERROR, kind, f"{type(error).__name__}: {error}"[:500])
