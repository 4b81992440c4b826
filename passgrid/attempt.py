"""Run one attempt: the one function all roads lead to."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

from passgrid.agent_loop import AgentLoop
from passgrid.agents.token import gateway_token
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.namespaces import with_namespace, without_namespace
from passgrid.cassettes.recorder import recorded_ending
from passgrid.cassettes.redacting import redacted_cassette
from passgrid.drift.account import DriftAccount
from passgrid.endings import AttemptStopped
from passgrid.identity import value_hash
from passgrid.matrix import Mode
from passgrid.messages import transcript_of
from passgrid.meter import Meter
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.redaction import Redactor, secrets_of
from passgrid.refused_calls import refused_calls
from passgrid.scenario import Scenario
from passgrid.scoring.afterwards import NOTHING, Afterwards, afterwards_of
from passgrid.scoring.checks import CheckResult, all_required_passed, run_checks
from passgrid.scoring.detectors import Flag, detected
from passgrid.scoring.evidence import Evidence
from passgrid.storable import storable
from passgrid.suite_code import SuiteCode
from passgrid.tools.declared import command_secrets, server_secrets
from passgrid.transcript import Message, ModelCallRecord, ToolCallRecord
from passgrid.workspaces.attempt_workspace import fresh_workspace, template_files
from passgrid.workspaces.changes import WorkspaceFiles, recorded_workspace


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
    """What lay in the workspace at the end, and its differences from the template."""
    duration_s: float
    recording: Cassette | None = None
    """The cassette of this attempt, where one was ordered and there is something to record."""
    drift: DriftAccount | None = None
    """How live answers differed from recorded ones, where they were compared."""
    afterwards: Afterwards = NOTHING
    """What servers said after the agent was done."""
    working_s: float | None = None
    """Of its duration, without waiting for a provider; None: not measured."""
    flags: tuple[Flag, ...] = ()
    """What detectors found: beside the verdict, never part of it."""

    def digest(self) -> str:
        """SHA-256 over outcome, messages, journal and checks: no times in it, so equal attempts have equal digests."""
        journal = [
            [call.turn, call.server, call.tool, call.arguments, call.result, call.answered, call.error]
            for call in self.tool_calls
        ]
        checks = [asdict(check) for check in self.checks]
        return value_hash(storable([self.outcome.name, self.outcome.reason, self.messages, journal, checks]))


class AttemptRun:
    """One attempt under way. What it has so far can be looked at from another thread."""

    def __init__(self, order: AttemptOrder) -> None:
        order = _in_its_namespace(order)
        self.order = order
        self.checking = False
        """Whether the agent is done, and its checks run."""
        self._meter = Meter(order.scenario.limits)
        self._code = SuiteCode(order.suite_files)
        self._redactor = _redactor(order)
        self._loop = AgentLoop(order, self._meter, self._code, self._redactor)

    async def run(self) -> AttemptResult:
        """See `run`, the function."""
        order, loop = self.order, self._loop
        template = template_files(order.scenario.workspace, order.suite_files)
        files: WorkspaceFiles | None = None
        async with fresh_workspace(order.scenario if order.mode.has_live_tools else None, template) as place:
            outcome = await loop.run(place)
            if place is not None:
                files = await asyncio.to_thread(place.read)
        if outcome.kind is OutcomeKind.PASSED and (refused := loop.refused_by_fakes()) is not None:
            # Whatever the agent made of it: what was declared is what it was expected to do.
            outcome = Outcome(OutcomeKind.FAILED, reason=refused)
        if order.cassette is not None and order.mode is Mode.REPLAY and order.scenario.workspace is not None:
            files = recorded_workspace(order.cassette.workspace, template)
        if order.mode is Mode.SANDBOX and order.scenario.workspace is not None:
            end = loop.recorded_end()
            files = recorded_workspace(end, template) if end is not None else None
            outcome = _with_known_end(outcome, order.scenario, files)
        result = self._result(outcome, files)
        self.checking = True
        if order.scenario.judge is not None and order.mode in {Mode.LIVE, Mode.SANDBOX} and outcome.valid:
            # Another provider than the agent's may be asked: it is shown what would be stored.
            shown = replace(result, messages=self._redactor.value(result.messages))
            said = await loop.second_opinion(_evidence(order, shown))
            result = replace(result, afterwards=replace(result.afterwards, judge=said))
        checks, flags = judged(order, result, self._code)
        recording = _recording(order, loop, self._meter, result) if order.record else None
        verdict = verdict_of(outcome, checks)
        return self._without_secrets(replace(result, outcome=verdict, checks=checks, flags=flags, recording=recording))

    def stop(self, ending: AttemptStopped) -> None:
        """End it from outside: before its next call, and where it is a program, at once. From its event loop."""
        self._loop.stop(ending)

    def broken_off(self, outcome: Outcome) -> AttemptResult:
        """The result of an attempt that can only be ended from outside: what it has so far, and no verdicts."""
        return self._without_secrets(self._result(outcome, None))

    def _result(self, outcome: Outcome, files: WorkspaceFiles | None) -> AttemptResult:
        meter, messages = self._meter, list(self._loop.messages)
        calls = [*meter.tool_calls, *refused_calls(messages, meter)]
        return AttemptResult(
            outcome=outcome,
            messages=transcript_of(messages),
            tool_calls=tuple(sorted(calls, key=lambda call: (call.turn, call.asked))),
            model_calls=tuple(meter.model_calls),
            checks=(),
            tools=self._loop.offered(),
            files=files,
            duration_s=meter.now_ms() / 1000,
            drift=self._loop.drift(),
            afterwards=self._afterwards(),
            working_s=round(meter.working_s(), 3),
        )

    def _afterwards(self) -> Afterwards:
        """What servers said; a replay has it from its recording."""
        if self.order.mode is Mode.REPLAY and self.order.cassette is not None:
            return afterwards_of(self.order.cassette.afterwards)
        return self._loop.afterwards

    def _without_secrets(self, result: AttemptResult) -> AttemptResult:
        """What leaves the process."""
        if _says_only_what_is_recorded(self.order):
            return result
        clean = self._redactor
        return replace(
            result,
            outcome=replace(result.outcome, reason=clean.text(result.outcome.reason)),
            messages=clean.value(result.messages),
            tool_calls=tuple(_clean_call(call, clean) for call in result.tool_calls),
            checks=tuple(replace(check, detail=clean.text(check.detail)) for check in result.checks),
            tools=clean.value(result.tools),
            files=None if result.files is None else result.files.without(clean.text),
            recording=None if result.recording is None else redacted_cassette(result.recording, clean),
            drift=None if result.drift is None else result.drift.without(clean.value),
            afterwards=result.afterwards.without(clean.value),
            flags=tuple(replace(flag, detail=clean.text(flag.detail)) for flag in result.flags),
        )


def judged(
    order: AttemptOrder, result: AttemptResult, code: SuiteCode
) -> tuple[tuple[CheckResult, ...], tuple[Flag, ...]]:
    """Checks and flags of an attempt that says something about the agent; none of any other."""
    if not result.outcome.valid:
        return (), ()
    evidence = _evidence(order, result)
    return run_checks(order.scenario, evidence, code), detected(evidence, code)


def _evidence(order: AttemptOrder, result: AttemptResult) -> Evidence:
    files, after = result.files, result.afterwards
    return Evidence(
        scenario=order.scenario,
        messages=result.messages,
        tool_calls=result.tool_calls,
        files=files.files if files else {},
        verdicts=order.cassette.verdicts if order.cassette else {},
        changes={change.path: change.change for change in files.diff.changes} if files else {},
        artifacts=after.artifacts,
        read_backs=after.read_backs,
        end_state=after.end_state,
        judge=after.judge,
        mode=str(order.mode),
        duration_s=result.duration_s,
        cut_off=result.outcome.kind is OutcomeKind.LIMIT,
    )


def _in_its_namespace(order: AttemptOrder) -> AttemptOrder:
    """Recordings say `${namespace}`; where servers or models are live, they are to say this attempt's own."""
    if order.mode not in {Mode.DRIFT, Mode.SANDBOX}:
        return order
    namespace = order.own_namespace
    return replace(
        order,
        cassette=None if order.cassette is None else with_namespace(order.cassette, namespace),
        recordings=tuple(with_namespace(one, namespace) for one in order.recordings),
    )


async def run(order: AttemptOrder) -> AttemptResult:
    """Run one attempt to its end: the agent loop within its limits, then the checks.

    Never raises for what happens in the attempt: every ending is an outcome, and the transcript is kept. Cancelling the
    surrounding task cancels the attempt and is the only thing that gets out.
    """
    return await AttemptRun(order).run()


def _with_known_end(outcome: Outcome, scenario: Scenario, files: WorkspaceFiles | None) -> Outcome:
    """A miss where checks want files that no recording holds: it ended elsewhere than all of them."""
    looked_at = any(check.kind in {"file", "python"} for check in (*scenario.checks, *scenario.stages.values()))
    if files is not None or not outcome.valid or not looked_at:
        return outcome
    reason = "no recording ended in the state this session ended in, so nobody knows its files; record it: --mode live"
    return Outcome(OutcomeKind.REPLAY_MISS, reason=reason)


def _redactor(order: AttemptOrder) -> Redactor:
    """Knows the secrets of this process, and those the scenario gives its servers."""
    if _says_only_what_is_recorded(order):
        return _NO_SECRETS
    known = secrets_of(os.environ) | server_secrets(order.scenario.mcp_servers)
    if (agent := order.scenario.agent) is not None:
        known |= command_secrets(agent.command, agent.args, agent.env) | {gateway_token(order)}
    return Redactor(known)


def _says_only_what_is_recorded(order: AttemptOrder) -> bool:
    """A replay, and its recording lost its secrets before it was written. A program may find others on the disk."""
    return order.mode is Mode.REPLAY and order.scenario.agent is None


_NO_SECRETS = Redactor()


def _clean_call(call: ToolCallRecord, clean: Redactor) -> ToolCallRecord:
    return replace(
        call,
        arguments=clean.value(call.arguments),
        result=clean.value(call.result),
        error_text=None if call.error_text is None else clean.text(call.error_text),
    )


def unrunnable(error: Exception) -> AttemptResult:
    """The result of an attempt that could not even be begun: its order is incomplete or broken."""
    outcome = Outcome(OutcomeKind.INFRA_ERROR, "order", f"{type(error).__name__}: {error}"[:500])
    return AttemptResult(outcome, [], (), (), (), [], None, 0.0)


def verdict_of(outcome: Outcome, checks: tuple[CheckResult, ...]) -> Outcome:
    """The outcome of a completed attempt: passed where every required check is, else failed with the first."""
    if outcome.kind is not OutcomeKind.PASSED or all_required_passed(checks):
        return outcome
    missed = next(check for check in checks if check.required and not check.stage and check.passed is not True)
    return Outcome(OutcomeKind.FAILED, reason=f"{missed.name}: {missed.detail}")


def _recording(order: AttemptOrder, loop: AgentLoop, meter: Meter, result: AttemptResult) -> Cassette | None:
    ending = recorded_ending(result.outcome)
    if ending is None:
        return None
    steps, timings = loop.recorded_steps()
    cassette = Cassette(
        scenario=order.scenario.name,
        label=order.recorded_as,
        prompt=order.prompt.name,
        sample=order.sample,
        source={"model": str(order.model), "tool": "passgrid"},
        system=loop.system(),
        tools=loop.offered(),
        steps=steps,
        ending=ending,
        workspace=result.files.to_json() if result.files else {},
        afterwards=result.afterwards.to_json(),
        timings=timings,
    )
    return without_namespace(cassette, order.own_namespace)
