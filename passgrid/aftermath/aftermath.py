"""What is done on the servers of one attempt besides running its agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from passgrid.aftermath.asking import AskedInVain, AsksServers
from passgrid.aftermath.session_ledger import Items, differences, listed, made_by_calls, torn_down
from passgrid.aftermath.states import FreshServers, end_state
from passgrid.conditions import ReadBack
from passgrid.identity import value_hash
from passgrid.scenario import Scenario
from passgrid.scoring.afterwards import Afterwards
from passgrid.transcript import ToolCallRecord

AFTERMATH_SECONDS = 30.0
"""How long looking and tearing down may take, beside the limits of the attempt."""


class Aftermath:
    """Looks at the platform before and after one attempt, and takes away what it made."""

    def __init__(self, scenario: Scenario, servers: AsksServers, namespace: str, fresh: FreshServers | None) -> None:
        """fresh: opens a session in which nothing happened; None where there is none."""
        self._scenario = scenario
        self._servers = servers
        self._namespace = namespace
        self._fresh = fresh
        self._before: Items = {}

    async def begin(self) -> None:
        """List what is there. Raises `AskedInVain`: without that nobody could tell what an attempt made."""
        self._before = await listed(self._servers, self._scenario.ledger)

    async def end(self, calls: Sequence[ToolCallRecord]) -> Afterwards:
        """Ask, compare, and take away; whatever cannot be done is said in what it returns.

        calls: those that may have changed something.
        """
        try:
            async with asyncio.timeout(AFTERMATH_SECONDS):
                return await self._end(calls)
        except TimeoutError:
            return Afterwards(trouble=f"the servers did not answer within {AFTERMATH_SECONDS:g} s")

    async def _end(self, calls: Sequence[ToolCallRecord]) -> Afterwards:
        backs = {name: await self._read_back(one) for name, one in self._scenario.read_backs.items()}
        state = await self._state()
        kinds = self._scenario.ledger
        made = made_by_calls(kinds, calls)
        try:
            after = await listed(self._servers, kinds)
        except AskedInVain as error:
            return Afterwards(read_backs=backs, end_state=state, trouble=str(error))
        found = differences(kinds, self._before, after, made, self._namespace, calls)
        ours = [(one.kind, one.id) for one in found if one.ours and one.change == "created"]
        removed, left = await torn_down(self._servers, kinds, ours) if ours else (0, ())
        artifacts = tuple(one for one in found if one.ours)
        return Afterwards(artifacts, backs, state, leftovers=left, removed=removed)

    async def _state(self) -> dict[str, Any]:
        declared = self._scenario.end_state
        if declared is None:
            return {}
        servers = {name: server.model_dump(mode="json") for name, server in self._scenario.mcp_servers.items()}
        return await end_state(declared, self._servers, self._fresh, value_hash(servers))

    async def _read_back(self, wanted: ReadBack) -> dict[str, Any]:
        try:
            if wanted.tool is not None:
                return {"value": await self._servers.ask(wanted.server, wanted.tool, dict(wanted.arguments))}
            return {"value": await self._servers.read(wanted.server, wanted.resource or "")}
        except AskedInVain as error:
            return {"error": str(error)}
