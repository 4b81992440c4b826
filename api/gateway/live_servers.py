"""A live MCP server behind a mount: what the fakes leave is asked there."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcp import Client, MCPError
from pydantic import BaseModel

from passgrid.wire.json_rpc import METHOD_NOT_FOUND, RpcError
from passgrid.wire.mcp_service import Caller

IDLE_SECONDS = 600.0
"""A client that says nothing for so long loses its session with the server."""
MOST_SESSIONS = 64
SERVER_LOST = -32000

Connect = Callable[[], Client]


@dataclass
class _Held:
    """A session with the server, kept open by a task of its own: it has to be closed where it was opened."""

    client: Client
    task: asyncio.Task[None]
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    used: float = field(default_factory=time.monotonic)


class LiveServer:
    """Opens a session with the server for every session of a client (or for every test, where there are none)."""

    answered = "live"

    def __init__(self, name: str, connect: Connect) -> None:
        self._name = name
        self._connect = connect
        self._sessions: dict[str, _Held] = {}
        self._opening = asyncio.Lock()

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """As the server lists them."""
        client = await self._client(caller)
        return await self._all(caller, client.list_tools, "tools")

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the server answers."""
        client = await self._client(caller)
        arguments = params.get("arguments")
        return await self._asked(caller, lambda: client.call_tool(params["name"], arguments or {}))

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Resources, prompts and completions of the server."""
        client = await self._client(caller)
        match method:
            case "resources/list":
                return {"resources": await self._all(caller, client.list_resources, "resources")}
            case "resources/templates/list":
                found = await self._all(caller, client.list_resource_templates, "resourceTemplates")
                return {"resourceTemplates": found}
            case "prompts/list":
                return {"prompts": await self._all(caller, client.list_prompts, "prompts")}
            case "resources/read":
                return await self._asked(caller, lambda: client.read_resource(str(params.get("uri"))))
            case "prompts/get":
                name, arguments = str(params.get("name")), params.get("arguments")
                return await self._asked(caller, lambda: client.get_prompt(name, arguments))
            case _:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    async def noted(self, caller: Caller) -> int:
        """Nothing is kept here."""
        return 0

    def capabilities(self) -> Mapping[str, Any]:
        """What is passed on."""
        return {"tools": {}, "resources": {}, "prompts": {}}

    async def close(self) -> None:
        """End every session."""
        held, self._sessions = list(self._sessions.values()), {}
        for one in held:
            one.leave.set()
        await asyncio.gather(*(one.task for one in held), return_exceptions=True)

    async def _client(self, caller: Caller) -> Client:
        key = caller.session or caller.identity.test_id or ""
        async with self._opening:
            held = self._sessions.get(key)
            if held is None or held.task.done():
                await self._make_room()
                held = self._sessions[key] = await self._open()
        held.used = time.monotonic()
        return held.client

    async def _open(self) -> _Held:
        client = self._connect()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        leave = asyncio.Event()

        async def keep() -> None:
            try:
                async with client:
                    ready.set_result(None)
                    await leave.wait()
            except BaseException as error:
                if not ready.done():
                    ready.set_exception(
                        RpcError(SERVER_LOST, f"server {self._name} cannot be reached: {_words(error)}")
                    )
                    return
                raise

        held = _Held(client, asyncio.create_task(keep()), leave)
        await ready
        return held

    async def _make_room(self) -> None:
        """End sessions that nobody used for long, and the one unused for longest where there are too many."""
        now = time.monotonic()
        old = [key for key, one in self._sessions.items() if now - one.used > IDLE_SECONDS]
        if len(self._sessions) - len(old) >= MOST_SESSIONS:
            old.append(min(self._sessions, key=lambda key: self._sessions[key].used))
        for key in old:
            one = self._sessions.pop(key)
            one.leave.set()
            with contextlib.suppress(Exception):
                await one.task

    async def _all(self, caller: Caller, page: Callable[..., Awaitable[BaseModel]], what: str) -> list[dict[str, Any]]:
        """Every page of a list."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            result = await self._asked(caller, partial(page, cursor=cursor))
            found += result[what]
            cursor = result.get("nextCursor")
            if not cursor:
                return found

    async def _asked(self, caller: Caller, ask: Callable[[], Awaitable[BaseModel]]) -> dict[str, Any]:
        try:
            result = await ask()
        except MCPError as error:
            raise RpcError(error.error.code, error.error.message, error.error.data) from error
        except Exception as error:
            raise RpcError(SERVER_LOST, f"server {self._name} was lost: {_words(error)}") from error
        answer = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {name: value for name, value in answer.items() if name not in {"resultType", "ttlMs", "cacheScope"}}


def _words(error: BaseException) -> str:
    while inner := getattr(error, "exceptions", ()):
        error = inner[0]
    return f"{type(error).__name__}: {error}"[:300]
