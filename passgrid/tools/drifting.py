"""Live tools whose every answer is compared with the recorded one; a tool the server lacks answers as recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai import ModelRetry, RunContext, ToolFailed
from pydantic_ai.tools import ToolDefinition

from passgrid.cassettes.calls import RecordedCall, recorded_calls
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import Cassette
from passgrid.drift.account import DriftAccount, Observed, account
from passgrid.drift.findings import Finding
from passgrid.drift.results import Answer
from passgrid.drift.surface import surface_findings
from passgrid.endings import ReplayMiss
from passgrid.messages import plain_content
from passgrid.tools.way import OfferedTool, ToolSource


class DriftingTools:
    """The tools of live servers, watched.

    The model is recorded, so every call was made before: its n-th call of a tool with these arguments is compared with
    the n-th recorded one.
    """

    answered = "live"

    def __init__(self, live: ToolSource, cassette: Cassette, projections: Mapping[str, str | None]) -> None:
        """projections: by server, the part of its answers that is compared."""
        self._live = live
        self._cassette = cassette
        self._projections = projections
        self._recorded: dict[tuple[str, bytes], list[RecordedCall]] = {}
        for call in reversed(list(recorded_calls(cassette))):
            self._recorded.setdefault(_key(call.tool, call.arguments), []).append(call)
        self._surface: list[Finding] = []
        self._observed: list[Observed] = []

    def account(self) -> DriftAccount:
        """What was found so far."""
        return account(self._surface, list(self._observed))

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """What the servers list, and behind it what they lack of the recording. Raises what listing raises."""
        live = list(await self._live.offered(ctx))
        recorded: list[dict[str, Any]] = self._cassette.tools or []
        self._surface = surface_findings(recorded, [tool.listed() for tool in live])
        there = {tool.definition.name for tool in live}
        return [*live, *(_as_recorded(tool) for tool in recorded if tool["name"] not in there)]

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """The live answer. Raises what the server's client raises; `ReplayMiss` where nobody can answer."""
        recorded = self._next(tool.definition.name, arguments)
        if tool.answered == "recorded":
            self._observe(tool, recorded, None)
            return _recorded_answer(tool, recorded)
        try:
            result = await self._live.call(tool, arguments, ctx)
        except (ToolFailed, ModelRetry) as failure:
            self._observe(tool, recorded, Answer(plain_content(failure.message), error=True))
            raise
        self._observe(tool, recorded, Answer(plain_content(result)))
        return result

    def _next(self, name: str, arguments: Any) -> RecordedCall | None:
        left = self._recorded.get(_key(name, arguments))
        return left.pop() if left else None

    def _observe(self, tool: OfferedTool, recorded: RecordedCall | None, live: Answer | None) -> None:
        then = None if recorded is None or recorded.library is not None else _answer(recorded)
        name = tool.definition.name
        self._observed.append(Observed(tool.server, name, then, live, self._projections.get(tool.server)))


def _key(tool: str, arguments: Any) -> tuple[str, bytes]:
    return tool, canonical_arguments(arguments)


def _answer(recorded: RecordedCall) -> Answer:
    return Answer(recorded.result) if recorded.error is None else Answer(recorded.error, error=True)


def _as_recorded(tool: Mapping[str, Any]) -> OfferedTool:
    definition = ToolDefinition(
        name=tool["name"],
        description=tool.get("description"),
        parameters_json_schema=tool.get("inputSchema") or {"type": "object"},
    )
    return OfferedTool(tool.get("server", ""), definition, answered="recorded")


def _recorded_answer(tool: OfferedTool, recorded: RecordedCall | None) -> Any:
    if recorded is None:
        raise ReplayMiss(f"tool {tool.definition.name}: the server lacks it, and this call of it is not recorded")
    if recorded.error is not None:
        raise ToolFailed(recorded.error)
    return recorded.result
