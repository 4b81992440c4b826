"""The MCP side of an agent's gateway: the scenario's tools, on the same way as those of the built-in agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage

from passgrid.agents.said import Answer, Said
from passgrid.agents.tool_results import answer_result, error_result
from passgrid.endings import AttemptEnded
from passgrid.json_values import is_object
from passgrid.messages import plain_content
from passgrid.meter import Meter
from passgrid.tools.way import ToolWay
from passgrid.transcript import ToolCallRecord
from passgrid.wire.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from passgrid.wire.mcp_service import Caller


class ToolCalls:
    """Carries out the calls of a program. The first error that is nobody's but the infrastructure's ends it."""

    def __init__(
        self, way: ToolWay, meter: Meter, said: Said, model: Model, broke: Callable[[Exception], None]
    ) -> None:
        """broke: told of an error that says nothing about the agent."""
        self._way = way
        self._meter = meter
        self._said = said
        self._model = model
        self._broke = broke
        self._alone = 0

    async def offered(self, server: str | None) -> list[dict[str, Any]]:
        """What tools/list says of one server, or of all."""
        await self._way.get_tools(self._context([], None))
        tools = [tool for tool in self._way.offered.values() if server is None or tool.server == server]
        # The protocol knows no null: what a server does not say is left out.
        return [
            {key: value for key, value in tool.listed().items() if key != "server" and value is not None}
            for tool in tools
        ]

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of tools/call. Raises what breaks in the infrastructure."""
        linked = self._said.link(name, arguments)
        context = self._linked_context(linked) if linked else self._context_alone()
        tools = await self._way.get_tools(context)
        schema = self._way.offered[name].definition.return_schema
        try:
            value = await self._way.call_tool(name, arguments, context, tools[name])
        except AttemptEnded as ending:
            return _ended(ending)
        except (ToolFailed, ModelRetry) as failure:
            text = str(plain_content(failure.message))
            self._answered(linked, Answer(text, failed=True))
            return error_result(text)
        except Exception as error:
            self._broke(error)
            raise
        self._answered(linked, Answer(value, failed=False))
        return answer_result(value, schema)

    def refuse(self, name: str, arguments: Any, why: str) -> dict[str, Any]:
        """The answer to a call that reaches no tool; it is a step, so it counts, and the journal has it.

        Raises `RpcError` with `why`; returns an error where the attempt has ended.
        """
        try:
            asked = self._meter.begin_call(name)
        except AttemptEnded as ending:
            return _ended(ending)
        self._meter.tool_calls.append(
            ToolCallRecord(
                turn=self._meter.turns,
                server="",
                tool=name,
                arguments=plain_content(arguments),
                result=why,
                answered="library",
                error=True,
                error_text=why,
                started_ms=self._meter.now_ms(),
                duration_ms=None,
                asked=asked,
                answered_at=None,
            )
        )
        raise RpcError(INVALID_PARAMS, why)

    def knows(self, name: str, server: str | None) -> bool:
        """Whether a server offers a tool; asked after it was listed once."""
        tool = self._way.offered.get(name)
        return tool is not None and (server is None or tool.server == server)

    def _answered(self, call_id: str | None, answer: Answer) -> None:
        if call_id is not None:
            self._said.answered(call_id, answer)

    def _linked_context(self, call_id: str) -> RunContext[Any]:
        return self._context(list(self._said.messages), call_id)

    def _context_alone(self) -> RunContext[Any]:
        """Of a call no model asked for: a recording is not to take it for one of the last turn's."""
        self._alone += 1
        said = [message for message in self._said.messages if isinstance(message, ModelRequest)]
        return self._context(list(said), f"alone_{self._alone}")

    def _context(self, messages: list[ModelMessage], call_id: str | None) -> RunContext[Any]:
        return RunContext(deps=None, model=self._model, usage=RunUsage(), messages=messages, tool_call_id=call_id)


def _ended(ending: AttemptEnded) -> dict[str, Any]:
    return error_result(f"this attempt has ended: {ending}")


class ToolService:
    """One server of the gateway, or all of them as one (`server` None)."""

    def __init__(self, calls: ToolCalls, server: str | None) -> None:
        self._calls = calls
        self._server = server

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """The tools, as tools/list lists them."""
        return await self._calls.offered(self._server)

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of tools/call. Raises `RpcError` for a call that reaches no tool."""
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, "tools/call needs the name of a tool")
        await self._calls.offered(self._server)
        if not self._calls.knows(name, self._server):
            return self._calls.refuse(name, arguments, f"unknown tool: {name}")
        if arguments is None:
            arguments = {}
        if not is_object(arguments):
            return self._calls.refuse(name, arguments, f"the arguments of {name} must be an object")
        return await self._calls.call(name, arguments)

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nothing but tools is recorded, so nothing else is offered."""
        raise RpcError(METHOD_NOT_FOUND, f"{method} is not offered here")

    async def noted(self, caller: Caller) -> int:
        """The journal holds calls; nothing else needs a row."""
        return 0

    def capabilities(self) -> Mapping[str, Any]:
        """Tools alone."""
        return {"tools": {"listChanged": False}}
