"""The sessions a live process keeps, brought in with the first server: their client takes two seconds to import."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from passgrid.server import AnyServer
from passgrid.tools.sessions import Surroundings

if TYPE_CHECKING:
    from pydantic_ai.mcp import MCPToolset

    from passgrid.tools.kept_sessions import KeptSessions


class LateSessions:
    """`KeptSessions` from the first server on; replays and agents without tools never pay for it."""

    def __init__(self) -> None:
        self._kept: KeptSessions | None = None

    def open(self, name: str, server: AnyServer, around: Surroundings) -> AbstractAsyncContextManager[MCPToolset[Any]]:
        """A connected client for one attempt. Raises what starting or connecting raises."""
        if self._kept is None:
            from passgrid.tools.kept_sessions import KeptSessions

            self._kept = KeptSessions()
        return self._kept.open(name, server, around)

    async def close(self) -> None:
        """End everything that is kept."""
        if self._kept is not None:
            await self._kept.close()
