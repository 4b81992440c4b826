"""Run one attempt: the one function all roads lead to."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model

from passgrid.cassettes.format import BrokenCassette, Cassette
from passgrid.conversation import Conversation, converse, converse_as_recorded
from passgrid.endings import LimitReached, RecordingEnded, ReplayMiss
from passgrid.identity import value_hash
from passgrid.matrix import Mode, Prompt
from passgrid.messages import library_kind, transcript_of
from passgrid.meter import Meter
from passgrid.model_reference import ModelReference
from passgrid.models.live import UnusableModel, live_model, live_settings
from passgrid.models.metered import MeteredModel
from passgrid.models.recorded import RecordedModel
from passgrid.models.scripted import POLICY_MARK, ScriptedModel
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.scenario import Scenario
from passgrid.scoring.checks import CheckResult, Evidence, all_required_passed, run_checks
from passgrid.suite_code import BrokenSuiteCode, SuiteCode
from passgrid.tools.live import ToolNameConflict, live_tools
from passgrid.tools.recorded import RecordedTools
from passgrid.tools.way import ToolSource, ToolWay
from passgrid.tools.workspace import (
    WorkspaceFiles,
    fresh_workspace,
    read_workspace,
    recorded_workspace,
    template_files,
)
from passgrid.transcript import Message, ModelCallRecord, ToolCallRecord


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """Everything one attempt needs; it looks at nothing else."""

    attempt_id: str
    scenario: Scenario
    prompt: Prompt
    model: ModelReference
    mode: Mode
    sample: int
    cassette: Cassette | None = None
    """Resolved; needed for every recorded model."""
    suite_files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The suite's own files by path: checks, policies, servers, templates."""
    suite_folder: Path | None = None
    """Where those files lie on disk, for live servers that are started from there."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What happened: always there, whatever the ending."""

    outcome: Outcome
    messages: list[Message]
    tool_calls: tuple[ToolCallRecord, ...]
    model_calls: tuple[ModelCallRecord, ...]
    checks: tuple[CheckResult, ...]
    tools: list[dict[str, Any]]
    """The tool surface that was offered: server, name, description, inputSchema."""
    files: WorkspaceFiles | None
    duration_s: float

    def digest(self) -> str:
        """SHA-256 over outcome, messages, journal and checks: no times in it, so equal attempts have equal digests."""
        journal = [
            [call.turn, call.server, call.tool, call.arguments, call.result, call.answered, call.error]
            for call in self.tool_calls
        ]
        checks = [asdict(check) for check in self.checks]
        return value_hash([self.outcome.name, self.outcome.reason, self.messages, journal, checks])


async def run(order: AttemptOrder) -> AttemptResult:
    """Run one attempt to its end: the agent loop within its limits, then the checks.

    Never raises for what happens in the attempt: every ending is an outcome, and the transcript is kept. Cancelling the
    surrounding task cancels the attempt and is the only thing that gets out.
    """
    meter = Meter(order.scenario.limits)
    code = SuiteCode(order.suite_files)
    template = template_files(order.scenario.workspace, order.suite_files)
    attempt = _Attempt(order, meter, code)
    files: WorkspaceFiles | None = None
    with fresh_workspace(order.scenario.workspace if _is_live(order) else None, template) as folder:
        outcome = await attempt.outcome(folder)
        if folder is not None:
            files = read_workspace(folder, template)
    if order.cassette is not None and order.mode is Mode.REPLAY and order.scenario.workspace is not None:
        files = recorded_workspace(order.cassette.workspace, template)
    messages = transcript_of(attempt.messages)
    tool_calls = tuple(sorted([*meter.tool_calls, *_refused(attempt, meter)], key=lambda call: (call.turn, call.asked)))
    checks: tuple[CheckResult, ...] = ()
    if outcome.valid:
        verdicts: Mapping[str, Any] = order.cassette.verdicts if order.cassette else {}
        evidence = Evidence(order.scenario, messages, tool_calls, files.files if files else {}, verdicts)
        checks = run_checks(order.scenario, evidence, code)
        outcome = _verdict(outcome, checks)
    return AttemptResult(
        outcome=outcome,
        messages=messages,
        tool_calls=tool_calls,
        model_calls=tuple(meter.model_calls),
        checks=checks,
        tools=attempt.offered(),
        files=files,
        duration_s=meter.now_ms() / 1000,
    )


def _is_live(order: AttemptOrder) -> bool:
    return order.mode is Mode.LIVE


def _verdict(outcome: Outcome, checks: tuple[CheckResult, ...]) -> Outcome:
    if outcome.kind is OutcomeKind.LIMIT or all_required_passed(checks):
        return outcome
    missed = next(check for check in checks if check.required and not check.stage and check.passed is not True)
    return Outcome(OutcomeKind.FAILED, reason=f"{missed.name}: {missed.detail}")


class _Attempt:
    """The agent loop of one attempt."""

    def __init__(self, order: AttemptOrder, meter: Meter, code: SuiteCode) -> None:
        self._order = order
        self._meter = meter
        self._code = code
        self._way: ToolWay | None = None
        self._conversation: Conversation | None = None

    @property
    def messages(self) -> list[Any]:
        return self._conversation.messages if self._conversation else []

    def offered(self) -> list[dict[str, Any]]:
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

    async def outcome(self, folder: Path | None) -> Outcome:
        """How the loop ended; the meter's reason goes before whatever the agent library made of it."""
        seconds = self._order.scenario.limits.seconds
        try:
            async with asyncio.timeout(seconds):
                await self._loop(folder)
        except TimeoutError:
            return Outcome(OutcomeKind.LIMIT, LimitName.TIME, f"{seconds} s are over")
        except Exception as error:  # noqa: BLE001 - an attempt always ends in an outcome
            return self._ended() or _broken(error)
        return self._ended() or Outcome(OutcomeKind.PASSED)

    def _ended(self) -> Outcome | None:
        match self._meter.ended:
            case LimitReached(limit=limit) as ending:
                return Outcome(OutcomeKind.LIMIT, limit, str(ending))
            case ReplayMiss() as ending:
                return Outcome(OutcomeKind.REPLAY_MISS, reason=str(ending))
            case RecordingEnded():
                return Outcome(OutcomeKind.PASSED)
            case _:
                return None

    async def _loop(self, folder: Path | None) -> None:
        model, recorded = self._model()
        async with self._source(folder) as source:
            self._way = ToolWay(source, self._meter, self._order.scenario.tools)
            agent: Agent[None, str] = Agent(
                MeteredModel(model, self._meter, self._answered()),
                system_prompt=self._order.prompt.text or (),
                toolsets=[self._way],
                model_settings=live_settings(self._order.model),
                retries=1_000_000,
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
            policies = self._code.marked("policies.py", POLICY_MARK)
            if reference.name not in policies:
                raise BrokenSuiteCode(f"policies.py has no policy {reference.name}")
            name = self._order.scenario.name
            return ScriptedModel(reference.name, policies[reference.name], name, self._order.attempt_id), None
        return live_model(reference), None

    def _answered(self) -> str:
        reference = self._order.model
        return "recorded" if reference.recorded else "scripted" if reference.scripted else "live"

    @contextlib.asynccontextmanager
    async def _source(self, folder: Path | None) -> AsyncGenerator[ToolSource]:
        if self._order.mode is Mode.REPLAY:
            if self._order.cassette is None:
                raise BrokenCassette(f"no cassette for sample {self._order.sample}")
            yield RecordedTools(self._order.cassette)
        else:
            async with live_tools(self._order.scenario.mcp_servers, self._order.suite_folder, folder) as tools:
                yield tools


def _refused(attempt: _Attempt, meter: Meter) -> list[ToolCallRecord]:
    """Calls the agent library answered itself, because no tool could be reached: steps too, so the journal has them."""
    rows: list[ToolCallRecord] = []
    turn, arguments = 0, dict[str, Any]()
    for message in attempt.messages:
        if message.kind == "response":
            turn += 1
            arguments = {part.tool_call_id: part.args for part in message.parts if part.part_kind == "tool-call"}
            continue
        for part in message.parts:
            if part.part_kind == "tool-return" and (kind := library_kind(part)):
                rows.append(
                    ToolCallRecord(
                        turn=turn,
                        server="",
                        tool=part.tool_name,
                        arguments=arguments.get(part.tool_call_id),
                        result=kind,
                        answered="library",
                        error=True,
                        error_text=kind,
                        started_ms=meter.now_ms(),
                        duration_ms=None,
                        asked=meter.calls + len(rows),
                        answered_at=None,
                    )
                )
    return rows


def _broken(error: Exception) -> Outcome:
    """The infrastructure broke, or the agent library gave up."""
    kinds: list[tuple[type[Exception], str]] = [
        (BrokenCassette, "cassette"),
        (BrokenSuiteCode, "suite_code"),
        (UnusableModel, "model"),
        (ToolNameConflict, "tool_names"),
        (AgentRunError, "agent"),
    ]
    kind = next((name for kind, name in kinds if isinstance(error, kind)), "unexpected")
    return Outcome(OutcomeKind.INFRA_ERROR, kind, f"{type(error).__name__}: {error}"[:500])
