"""Where the time of one call goes: the wire alone, the decision alone, and the claim with its journal row."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from benchmarks.gateway_asking import Connection, call_of
from passgrid.fakes.fake_service import FakeService
from passgrid.fakes.loading import CODE, Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.wire.http import HttpRequest
from passgrid.wire.mcp_mount import McpMount
from passgrid.wire.mcp_service import Identity
from passgrid.wire.mcp_sessions import MemorySessions


async def stages(url: str, tool: str, seconds: float) -> dict[str, float]:
    """Microseconds a call: `http` is a request that asks for nothing, `deciding` a call in this process without either
    wire or database, `whole` a call over one connection; what is left of it is the claim in Postgres.
    """
    connection = Connection(url)
    await connection.open()
    body = call_of(tool)
    http = await _each(lambda: connection.get("/health"), seconds)
    whole = await _each(lambda: connection.post(body), seconds)
    connection.close()
    deciding = await _deciding(tool, body, seconds)
    return {
        "whole": round(whole, 1),
        "http": round(http, 1),
        "deciding": round(deciding, 1),
        "claim_and_journal": round(whole - http - deciding, 1),
    }


async def _deciding(tool: str, body: bytes, seconds: float) -> float:
    calls = [{"anyArgs": True, "result": "ok", "times": 2_000_000_000}]
    fakes = load(Fakes(), {"mcpFakes": {"scope": "shared", "tools": [{"name": tool, "calls": calls}]}}, CODE).fakes

    async def at() -> MountFakes:
        return fakes.mount("/mcp")

    sessions, state = MemorySessions(), MemoryState()
    mount = McpMount("/mcp", FakeService("/mcp", at, state), sessions)
    session = await sessions.begin("/mcp", "2025-11-25", Identity())
    await sessions.initialized(session)
    headers = ((b"host", b"127.0.0.1"), (b"mcp-session-id", session.session_id.encode()))
    request = HttpRequest("POST", "/mcp", b"", headers, body)

    async def call() -> object:
        state.journal.clear()
        return await mount.handle(request)

    return await _each(call, seconds)


async def _each(ask: Callable[[], Awaitable[object]], seconds: float) -> float:
    """Microseconds of one, on average over some seconds."""
    count, started = 0, time.perf_counter()
    while (took := time.perf_counter() - started) < seconds:
        await ask()
        count += 1
    return took / max(1, count) * 1e6
