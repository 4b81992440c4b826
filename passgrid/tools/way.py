"""The way of one tool call: counted against the limits, answered by a source, and written into the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets.abstract import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from passgrid.aftermath.session_ledger import made_by
from passgrid.endings import AttemptEnded
from passgrid.gate import OPEN_GATE, Gate, Settlement, Ticket, ToolCall
from passgrid.ledger import LedgerKind
from passgrid.messages import plain_content
from passgrid.meter import Meter
from passgrid.transcript import ToolCallRecord

UNLIMITED_RETRIES = 1_000_000
"""Errors are for the agent to deal with; what ends an attempt are the limits of its scenario."""

_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class ToolNameConflict(Exception):
    """Two servers offer a tool of one name: the agent could not tell them apart."""


class NotDedicated(Exception):
    """A hosted server that others may use has tools that write: no attempt may be run on it."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool an agent may call, and the server it belongs to."""

    server: str
    definition: ToolDefinition
    reads: bool = False
    """Whether its server says that it changes nothing; a tool that says nothing is treated as writing."""
    answered: str | None = None
    """What the journal says of its answers, where that is not what its source says."""

    def listed(self) -> dict[str, Any]:
        """As a server lists it, with the server's name."""
        annotations: Any = (self.definition.metadata or {}).get("annotations")
        kept = {name: value for name, value in annotations.items() if value is not None} if annotations else {}
        return {
            "server": self.server,
            "name": self.definition.name,
            "description": self.definition.description,
            "inputSchema": self.definition.parameters_json_schema,
            **({"annotations": kept} if kept else {}),
            **({"outputSchema": self.definition.return_schema} if self.definition.return_schema else {}),
        }


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """How one call was answered, where its source can answer in several ways."""

    answered: str
    score: float | None = None
    """How alike the question was, from 0 to 1, where it was asked in other words."""


@runtime_checkable
class MarksAnswers(Protocol):
    """A source that says of every call how it was answered."""

    def mark(self, call_id: str | None) -> AnswerMark | None:
        """Of a call by its id; None where it was not answered."""
        ...


class ToolSource(Protocol):
    """Something that can answer tool calls: a recording, or live servers."""

    answered: str
    """What the journal says of an answer from here: live, recorded, …"""

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """The tools, in the order the servers list them."""
        ...

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """The answer. Raises `ToolFailed` for an error the agent is to see, `ReplayMiss` for what is not recorded."""
        ...


class NoTools:
    """The source of a scenario without servers."""

    answered = "live"

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """None."""
        return ()

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """Never asked: nothing is offered."""
        raise LookupError(f"no server offers {tool.definition.name}")


class ToolWay(AbstractToolset[Any]):
    """The one toolset an agent gets. Answers come from `source`; every call leaves a journal row in the meter."""

    def __init__(
        self,
        source: ToolSource,
        meter: Meter,
        only: Sequence[str] | None = None,
        gate: Gate = OPEN_GATE,
        redact: Callable[[Any], Any] = lambda value: value,
        ledger: Mapping[str, LedgerKind] | None = None,
    ) -> None:
        """redact: takes secrets out of what the gate is told of a call. ledger: what calls may make."""
        self._ledger = ledger or {}
        self._source = source
        self._meter = meter
        self._gate = gate
        self._redact = redact
        self._only = None if only is None else frozenset(only)
        self._tools: dict[str, ToolsetTool[Any]] | None = None
        self.offered: dict[str, OfferedTool] = {}

    @property
    def id(self) -> str | None:
        """One toolset an attempt, so one name is enough."""
        return "tools"

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What the source offers, without what the scenario leaves out; listed once an attempt."""
        if self._tools is None:
            for tool in await self._source.offered(ctx):
                if self._only is None or tool.definition.name in self._only:
                    self.offered[tool.definition.name] = tool
            self._tools = {
                name: ToolsetTool(
                    toolset=self, tool_def=tool.definition, max_retries=UNLIMITED_RETRIES, args_validator=_ANY_OBJECT
                )
                for name, tool in self.offered.items()
            }
        return self._tools

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Answer one call and write its journal row, however it ends."""
        meter, offered = self._meter, self.offered[name]
        asked = meter.begin_call(name)
        ticket = await self._let_through(offered, tool_args)
        started = meter.now_ms()
        answered, result, error_text, came_back = self._answered(offered), None, None, False
        try:
            result = await self._source.call(offered, tool_args, ctx)
            came_back = True
        except ToolFailed as failure:
            error_text = str(plain_content(failure.message))
            came_back = True
            raise
        except AttemptEnded as ending:
            answered, error_text = "missed", str(ending)
            raise meter.end(ending) from None
        except Exception as failure:
            # It is never known whether a call without an answer was carried out: its intent stays open.
            error_text = f"{type(failure).__name__}: {failure}"[:500]
            raise
        finally:
            ended = meter.now_ms()
            mark = self._source.mark(ctx.tool_call_id) if isinstance(self._source, MarksAnswers) else None
            meter.tool_calls.append(
                ToolCallRecord(
                    turn=meter.turns,
                    server=offered.server,
                    tool=name,
                    arguments=plain_content(tool_args),
                    result=error_text if error_text is not None else plain_content(result),
                    answered=mark.answered if mark is not None and answered != "missed" else answered,
                    score=mark.score if mark is not None else None,
                    error=error_text is not None,
                    error_text=error_text,
                    started_ms=started,
                    duration_ms=round(ended - started, 3) if came_back else None,
                    asked=asked,
                    answered_at=meter.answer_position() if came_back else None,
                )
            )
            if ticket is not None and came_back:
                failed = error_text is not None
                made = () if failed or not self._ledger else made_by(self._ledger, name, plain_content(result))
                await ticket.settle(Settlement("tool_error" if failed else "ok", 0.0, "free", made=tuple(made)))
        return result

    def _answered(self, tool: OfferedTool) -> str:
        return tool.answered or self._source.answered

    async def _let_through(self, tool: OfferedTool, arguments: dict[str, Any]) -> Ticket | None:
        """Ask the gate before a live call. A call that it does not let through was not made, and is not counted."""
        if self._answered(tool) != "live":
            return None
        try:
            return await self._gate.begin(
                ToolCall(
                    tool.server, tool.definition.name, self._redact(plain_content(arguments)), writes=not tool.reads
                )
            )
        except AttemptEnded as ending:
            self._meter.calls -= 1
            raise self._meter.end(ending) from None
