"""Recordings behind a mount: what the fakes leave is answered as it was recorded, in the state the session is in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from passgrid.agents.tool_results import answer_result, error_result
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.cassettes.nearest import miss_text
from passgrid.cassettes.session import Call, NotRecorded, RecordedSession
from passgrid.cassettes.state_graph import StateGraph
from passgrid.fakes.refusals import unknown_tool
from passgrid.json_values import is_object
from passgrid.wire.json_rpc import METHOD_NOT_FOUND, RpcError
from passgrid.wire.mcp_service import Caller

MISSED = -31020
MOST_SESSIONS = 10_000
OVERLAP = 256

Earlier = Callable[[str, str, int], Awaitable[list[tuple[int, Any]]]]
"""Calls of a test on a mount that recordings answered after a row of the journal."""


@dataclass
class _Following:
    session: RecordedSession
    rows: set[int] = field(default_factory=set[int])
    """Rows of the journal it has followed."""
    last: int = 0

    def follow(self, row: int) -> None:
        """This row's call is part of it."""
        self.rows.add(row)
        self.last = max(self.last, row)


class RecordedServer:
    """Answers from the recordings of one scenario. It opens nothing: what is not recorded is an error that says so.

    A test may come to any process: what recordings answered it elsewhere is caught up with from the journal.
    """

    answered = "recorded"

    def __init__(
        self, mount: str, cassettes: Sequence[Cassette], earlier: Earlier | None = None, rules: MatchingRules = NO_RULES
    ) -> None:
        """cassettes: resolved, of one scenario; the preferred one first."""
        self._mount = mount
        self._graph = StateGraph(cassettes, rules)
        self._earlier = earlier
        self._tools = _listed(cassettes)
        self._following: OrderedDict[str, _Following] = OrderedDict()

    def follow_journal(self, earlier: Earlier) -> None:
        """Catch up with what other processes answered from now on."""
        self._earlier = earlier

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """As they were listed when the recordings were made."""
        return list(self._tools.values())

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The recorded answer. Raises `RpcError` where there is none."""
        tool, arguments = params["name"], params.get("arguments", {})
        if tool not in self._tools:
            raise unknown_tool(tool)
        following = await self._caught_up(caller)
        call = Call(tool, arguments)
        try:
            (served,) = following.session.answer([call])
        except NotRecorded as miss:
            text = miss_text(following.session, miss.call)
            raise RpcError(MISSED, f"Not recorded: {text}", {"passgrid": {"code": "REPLAY_MISS"}}, "missed") from None
        following.follow(caller.row)
        if served.error is not None:
            return error_result(served.error)
        return answer_result(served.result, self._tools[tool].get("outputSchema"))

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Recordings of agents hold calls of tools and nothing else."""
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    async def noted(self, caller: Caller) -> int:
        """Nothing is kept here."""
        return 0

    def capabilities(self) -> Mapping[str, Any]:
        """Tools."""
        return {"tools": {}}

    async def _caught_up(self, caller: Caller) -> _Following:
        test_id = caller.identity.test_id
        key = test_id if test_id is not None else f"session {caller.session}"
        following = self._following.get(key)
        if following is None:
            following = self._following[key] = _Following(RecordedSession(self._graph))
            if len(self._following) > MOST_SESSIONS:
                self._following.popitem(last=False)
        if test_id is not None and self._earlier is not None:
            # A row below the last one may have been answered later, by another process at the same time.
            for row, message in await self._earlier(self._mount, test_id, max(0, following.last - OVERLAP)):
                if (call := _call_of(message)) is not None and row not in following.rows:
                    following.follow(row)
                    following.session.answer([call])
        return following


def _call_of(message: Any) -> Call | None:
    params: Any = message.get("params") if is_object(message) else None
    return Call(params["name"], params.get("arguments", {})) if is_object(params) and "name" in params else None


def _listed(cassettes: Sequence[Cassette]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for cassette in cassettes:
        for tool in cassette.tools or ():
            shown = {name: value for name, value in tool.items() if name != "server" and value is not None}
            found.setdefault(tool["name"], {"inputSchema": {"type": "object"}, **shown})
    return found
