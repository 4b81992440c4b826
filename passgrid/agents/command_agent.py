"""An agent that is a command: started, answered, watched and ended, in place of the built-in agent loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model

from passgrid.agent_command import AgentCommand
from passgrid.agents.answer import Answered, NoAnswer, answer_of
from passgrid.agents.conversation import conversation_of, with_answer
from passgrid.agents.environment import Files, Gateway, Job, agent_environment
from passgrid.agents.gateway import AgentGateway, tool_mounts
from passgrid.agents.hidden import hidden_folders
from passgrid.agents.model_turns import ModelTurns
from passgrid.agents.program import Network, NoNamespace, Program, ProgramEnd, launched
from passgrid.agents.recording import program_steps
from passgrid.agents.said import Said
from passgrid.agents.token import gateway_token
from passgrid.agents.tool_service import ToolCalls
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Step
from passgrid.endings import AgentFailed, LimitReached
from passgrid.ledger import NAMESPACE
from passgrid.matrix import Mode
from passgrid.meter import Meter
from passgrid.model_api.model_api import ModelApi
from passgrid.outcome import LimitName
from passgrid.redaction import Redactor
from passgrid.tools.declared import filled
from passgrid.tools.way import ToolWay
from passgrid.wire.http import Handler, HttpReply, HttpRequest
from passgrid.workspaces.attempt_workspace import template_files

STDERR_SHOWN = 300
"""Characters of a failed program's last words."""

_OF_OURS = re.compile(r"\$\{env:[^}]*\}")
_NETWORKS: dict[Mode, tuple[Network, ...]] = {
    Mode.REPLAY: ("own",),
    Mode.SANDBOX: ("own", "shared"),
    Mode.DRIFT: ("own", "shared"),
    Mode.LIVE: ("shared",),
}
"""Which network a program gets: the first that is to be had. Only a live agent may need more than the gateway."""


class CommandAgent:
    """One program for one attempt. What it has said so far may be looked at from another thread."""

    def __init__(self, order: AttemptOrder, agent: AgentCommand, meter: Meter, redactor: Redactor) -> None:
        self._order = order
        self._agent = agent
        self._meter = meter
        self._redactor = redactor
        self._said = Said()
        self._answered: Answered | None = None
        self._broken: Exception | None = None
        self._over = asyncio.Event()

    @property
    def system(self) -> str | None:
        """The system prompt it gave its model; None where it gave none."""
        return self._said.system

    @property
    def messages(self) -> list[ModelMessage]:
        """The whole conversation: with the model, as the program tells it, or as its calls do; and its answer."""
        spoken = list(self._said.messages)
        if not any(isinstance(message, ModelResponse) for message in spoken):
            told = self._answered.messages if self._answered else ()
            spoken = list(told) or conversation_of(self._turns(), self._meter.tool_calls)
        return with_answer(spoken, self._answered.text) if self._answered else spoken

    def recorded_steps(self) -> tuple[tuple[Step, ...], dict[str, Any]]:
        """What happened as the steps of a cassette, and how long they took."""
        return program_steps(self._said.messages, self._turns(), self._meter)

    def stop(self) -> None:
        """The attempt has ended, and the program is to end with it. From its event loop."""
        self._over.set()

    async def run(self, way: ToolWay, model: Model, folder: Path | None) -> None:
        """Run the program to its end.

        Args:
            way: the one way of its tool calls.
            model: metered; answers its model requests.
            folder: its workspace; None where it has none on disk.

        Raises:
            AttemptEnded: a limit, a miss, an unsuccessful exit, or no answer.
            NoNamespace: a replay, and the kernel gives the program no network of its own.
            Unstartable: there is no such program.
        """
        with tempfile.TemporaryDirectory(prefix="passgrid-agent-", ignore_cleanup_errors=True) as base:
            files = Files(Path(base))
            files.write_task(self._turns())
            async with contextlib.AsyncExitStack() as stack:
                program = await self._launched(stack, files, folder)
                end = await self._run(program, way, model, files, folder or files.make_folder(self._template()))
            self._judge(program, end, files)

    async def _launched(self, stack: contextlib.AsyncExitStack, files: Files, folder: Path | None) -> Program:
        """A program in the network its mode wants, not started yet. Raises `NoNamespace`."""
        *preferred, last = _NETWORKS[self._order.mode]
        for network in preferred:
            with contextlib.suppress(NoNamespace):
                return await stack.enter_async_context(self._launch(network, files, folder))
        return await stack.enter_async_context(self._launch(last, files, folder))

    def _launch(
        self, network: Network, files: Files, folder: Path | None
    ) -> contextlib.AbstractAsyncContextManager[Program]:
        if network == "shared":
            return launched(network, files.task)
        suite = [self._order.suite_folder] if self._order.suite_folder else []
        hidden = hidden_folders(os.environ, [files.task, Path(sys.prefix), *suite, *filter(None, [folder])])
        return launched(network, files.task, hidden, read_only=suite)

    async def _run(self, program: Program, way: ToolWay, model: Model, files: Files, folder: Path) -> ProgramEnd | None:
        """Its end; None where it was ended before."""
        calls = ToolCalls(way, self._meter, self._said, model, self._broke)
        await calls.offered(None)
        listener = program.listener
        servers = {tool.server for tool in way.offered.values() if tool.server}
        names = tuple(sorted(servers | set(self._order.scenario.mcp_servers)))
        place = Gateway(listener.getsockname()[1], gateway_token(self._order), names)
        files.write_client_config(place)
        turns = ModelTurns(model, self._order.model, self._meter, way, self._said, self._broke)
        gateway = AgentGateway(place.token, tool_mounts(calls, names), ModelApi(turns, models=[str(self._order.model)]))
        async with self._order.serving(self._watched(gateway), listener):
            await program.start(*self._command(place, files, folder))
            return await self._ended(program)

    def _judge(self, program: Program, end: ProgramEnd | None, files: Files) -> None:
        """What its end means; the output is complete now. Raises what the attempt ends with."""
        if self._broken is not None:
            raise self._broken
        if self._meter.ended is not None:
            raise self._meter.ended
        if end is None or not end.well:
            told = end.told() if end else "was ended"
            last = self._redactor.text(program.stderr.last_lines(STDERR_SHOWN))
            raise self._meter.end(AgentFailed(f"agent {told}{': ' if last else ''}{last}"))
        try:
            self._answered = answer_of(self._agent, program.stdout, files.result)
        except NoAnswer as missing:
            raise self._meter.end(AgentFailed(str(missing))) from None

    async def _ended(self, program: Program) -> ProgramEnd | None:
        """Wait for its end, or for whatever ends the attempt before."""
        if self._meter.ended is not None:
            return None
        ending, over = asyncio.ensure_future(program.end()), asyncio.ensure_future(self._over.wait())
        try:
            done, _ = await asyncio.wait(
                {ending, over}, timeout=self._agent.timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            over.cancel()
            ending.cancel()
        if not done:
            self._meter.end(LimitReached(LimitName.TIME, f"the agent's own {self._agent.timeout:g} s are over"))
        return ending.result() if ending in done else None

    def _watched(self, gateway: AgentGateway) -> Handler:
        """The gateway; when a limit or a miss has ended the attempt, the program is ended after the answer."""

        async def handle(request: HttpRequest) -> HttpReply:
            reply = await gateway.handle(request)
            if self._meter.ended is not None:
                self._over.set()
            return reply

        return handle

    def _broke(self, error: Exception) -> None:
        """Something failed that is not the agent's: it need not go on. The first error counts."""
        if self._broken is None:
            self._broken = error
        self._over.set()

    def _command(self, place: Gateway, files: Files, folder: Path) -> tuple[list[str], dict[str, str], Path]:
        order, agent = self._order, self._agent
        argv = [sys.executable if agent.command == "python" else agent.command, *agent.args]
        job = Job(self._turns(), order.prompt.text, str(order.model), order.own_namespace)
        extra = {name: self._filled(value, folder) for name, value in agent.env.items()}
        return [self._filled(one, folder) for one in argv], agent_environment(place, job, files, extra), folder

    def _filled(self, text: str, folder: Path) -> str:
        if self._order.mode is Mode.REPLAY:
            # It reaches nothing that wants a secret, and nothing takes one out of what a replay leaves.
            text = _OF_OURS.sub("", text)
        return filled(text, {"suite": self._order.suite_folder, "workspace": folder})

    def _turns(self) -> tuple[str, ...]:
        turns = self._order.scenario.user_turns or ()
        return tuple(turn.replace(NAMESPACE, self._order.own_namespace) for turn in turns)

    def _template(self) -> dict[str, bytes]:
        return template_files(self._order.scenario.workspace, self._order.suite_files)
