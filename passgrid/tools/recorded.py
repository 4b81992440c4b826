"""Tools that answer from a cassette: by tool, canonical arguments and n-th occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson
from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.tools import ToolDefinition

from passgrid.cassettes.calls import RecordedCall, recorded_calls
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import Cassette
from passgrid.endings import ReplayMiss
from passgrid.tools.way import OfferedTool


class RecordedTools:
    """The tool side of a cassette. Opens nothing, starts nothing: what is not recorded is a loud miss."""

    answered = "recorded"

    def __init__(self, cassette: Cassette) -> None:
        self._offered = _offered(orjson.dumps(cassette.tools))
        self._calls: dict[tuple[str, bytes], list[RecordedCall]] = {}
        self._used: dict[tuple[str, bytes], int] = {}
        for call in recorded_calls(cassette):
            if call.library is None:
                self._calls.setdefault((call.tool, canonical_arguments(call.arguments)), []).append(call)

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """The tools that were listed when the cassette was recorded."""
        return self._offered

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """The recorded answer to the n-th such call. Raises `ReplayMiss` where there is none."""
        name = tool.definition.name
        key = (name, canonical_arguments(arguments))
        n = self._used.get(key, 0)
        recorded = self._calls.get(key, ())
        if n >= len(recorded):
            raise ReplayMiss(self._miss(name, arguments, n, len(recorded)))
        self._used[key] = n + 1
        answer = recorded[n]
        if answer.error is not None:
            raise ToolFailed(answer.error)
        return answer.result

    def _miss(self, name: str, arguments: dict[str, Any], n: int, recorded: int) -> str:
        shown = orjson.dumps(arguments, default=str).decode()[:200]
        if recorded:
            return f"tool {name}: call {n + 1} with {shown}, recorded only {recorded} times"
        others = sorted({tool for tool, _ in self._calls})
        known = f"; recorded are {', '.join(others)}" if name not in others else ", recorded only with other arguments"
        return f"tool {name}: no recorded call with {shown}{known}"


@lru_cache(maxsize=64)
def _offered(tools: bytes) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            tool.get("server", ""),
            ToolDefinition(
                name=tool["name"],
                description=tool.get("description"),
                parameters_json_schema=tool.get("inputSchema") or {"type": "object"},
            ),
        )
        for tool in orjson.loads(tools)
    )
