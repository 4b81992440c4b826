"""Sessions a worker keeps: shared ones of stateless servers, and processes of stateful ones started ahead of time.

A process of a stateful server serves one attempt and ends with it. While it does, the next one is started: an attempt
does not wait for its imports.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator
from contextvars import Context
from typing import Any

from pydantic_ai.mcp import MCPToolset

from passgrid.failure_kinds import SERVER_LOST
from passgrid.failures import failure_kind
from passgrid.identity import value_hash
from passgrid.server import AnyServer, HttpServer, StdioServer
from passgrid.tools.connecting import client_of
from passgrid.tools.declared import uses
from passgrid.tools.live import fresh_session
from passgrid.tools.sessions import Surroundings

log = logging.getLogger(__name__)

WARM = 2
"""Processes of one server that wait for an attempt."""
MOST_WARM = 8
"""Of all servers together."""
IDLE_SECONDS = 60.0
"""How long anything is kept that nobody asks for."""


class KeptSessions:
    """Those of one worker process; used on its event loop alone."""

    def __init__(self, idle_s: float = IDLE_SECONDS) -> None:
        self._idle_s = idle_s
        self._shared: dict[str, _Session] = {}
        self._warm: dict[str, list[_Session]] = {}
        self.started = 0
        """Sessions that were begun so far."""

    @contextlib.asynccontextmanager
    async def open(self, name: str, server: AnyServer, around: Surroundings) -> AsyncGenerator[MCPToolset[Any]]:
        """A connected client for one attempt."""
        key = value_hash([name, type(server).__name__, server.model_dump(mode="json"), str(around.places.get("suite"))])
        if not _can_be_kept(server, around):
            async with fresh_session(name, server, around) as client:
                yield client
        elif isinstance(server, StdioServer | HttpServer) and server.stateless:
            async with self._of_shared(key, name, server, around) as client:
                yield client
        else:
            session = self._taken(key, name, server, around)
            try:
                yield await session.client()
            finally:
                await session.close()

    async def close(self) -> None:
        """End everything that is kept."""
        sessions = [*self._shared.values(), *(one for kept in self._warm.values() for one in kept)]
        self._shared.clear()
        self._warm.clear()
        await asyncio.gather(*(session.close() for session in sessions), return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _of_shared(
        self, key: str, name: str, server: AnyServer, around: Surroundings
    ) -> AsyncGenerator[MCPToolset[Any]]:
        session = self._shared.get(key)
        if session is None or session.over:
            session = self._shared[key] = self._begun(name, server, around)
        session.users += 1
        try:
            yield await session.client()
        except BaseException as error:
            if self._shared.get(key) is session and failure_kind(error) == SERVER_LOST:
                del self._shared[key]  # the next attempt begins a new one
            raise
        finally:
            session.users -= 1
            session.idle_since = asyncio.get_running_loop().time()
            if self._shared.get(key) is not session and not session.users:
                session.end()
            self._sweep()

    def _taken(self, key: str, name: str, server: AnyServer, around: Surroundings) -> _Session:
        """A process that waits, else a new one; another is started for the next attempt."""
        kept = self._warm.setdefault(key, [])
        kept[:] = [one for one in kept if not one.over]
        session = kept.pop(0) if kept else self._begun(name, server, around)
        self._sweep()
        while len(kept) < WARM and sum(map(len, self._warm.values())) < MOST_WARM:
            kept.append(self._begun(name, server, around))
        return session

    def _begun(self, name: str, server: AnyServer, around: Surroundings) -> _Session:
        self.started += 1
        session = _Session(name, server, around)
        session.expire(self._idle_s, self._sweep)
        return session

    def _sweep(self) -> None:
        """End what nobody asked for in a while."""
        old = asyncio.get_running_loop().time() - self._idle_s
        for key, session in list(self._shared.items()):
            if not session.users and session.idle_since <= old:
                del self._shared[key]
                session.end()
        for kept in self._warm.values():
            for session in [one for one in kept if one.idle_since <= old]:
                kept.remove(session)
                session.end()


def _can_be_kept(server: AnyServer, around: Surroundings) -> bool:
    """Whether a session does not depend on the attempt: not on its folder, and not on this process."""
    if isinstance(server, HttpServer):
        return server.stateless
    if not isinstance(server, StdioServer):
        return False
    return around.places.get("workspace") is None and not uses(server, "workspace")


class _Session:
    """One session, held open by a task of its own: a client has to be closed by the task that opened it."""

    def __init__(self, name: str, server: AnyServer, around: Surroundings) -> None:
        loop = asyncio.get_running_loop()
        self.users = 0
        self.idle_since = loop.time()
        self._end = asyncio.Event()
        self._client: asyncio.Future[MCPToolset[Any]] = loop.create_future()
        # Without the context of the attempt that happened to ask first: it is not that attempt's task.
        self._task = loop.create_task(self._keep(name, server, around), name=f"session {name}", context=Context())

    @property
    def over(self) -> bool:
        """Whether it ended, or could not begin."""
        return self._task.done()

    async def client(self) -> MCPToolset[Any]:
        """The client, once it is connected. Raises what connecting raised."""
        return await asyncio.shield(self._client)

    def end(self) -> None:
        """Have it closed."""
        self._end.set()

    async def close(self) -> None:
        """End it, and wait until it is closed."""
        self._end.set()
        await asyncio.shield(self._task)

    def expire(self, seconds: float, look: Any) -> None:
        """Have somebody look whether it is still wanted, as long as it lives."""
        loop = asyncio.get_running_loop()

        def again() -> None:
            if not self.over:
                look()
                loop.call_later(seconds, again)

        loop.call_later(seconds, again)

    async def _keep(self, name: str, server: AnyServer, around: Surroundings) -> None:
        try:
            with client_of(name, server, around) as client:
                async with client:
                    self._client.set_result(client)
                    await self._end.wait()
        except Exception as error:  # noqa: BLE001 - told to whoever asks for the client
            if self._client.done():
                log.info("server %s: its session ended badly: %s", name, error)
            else:
                self._client.set_exception(error)
                self._client.exception()  # looked at: nobody may ever ask
