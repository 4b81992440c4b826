"""Random bytes and random messages at a mount: every request is answered, none with a 5xx, and nothing piles up."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from passgrid.fakes.fake_service import FakeService
from passgrid.fakes.loading import CODE, Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.state import JournalRequest
from passgrid.wire.asgi import WireApp, WireLimits
from passgrid.wire.http import HttpReply, HttpRequest
from passgrid.wire.mcp_mount import McpMount
from passgrid.wire.mcp_service import Identity
from passgrid.wire.mcp_sessions import MemorySessions

REQUESTS = 100_000
ROUND = 10_000
"""Memory is looked at after each."""

METHODS = [
    *("initialize", "notifications/initialized", "ping", "tools/list", "tools/call", "resources/read", "prompts/get"),
    *("server/discover", "completion/complete", "logging/setLevel", "nonsense", ""),
]
NAMES: list[Any] = ["t", "unknown", "", 123, None, [], {}, "\ud800", "x" * 1000]
VALUES: list[Any] = [None, True, -1, 1e308, 2**70, "", "\0", "\ud83d", "é", [], {}, [[]], {"a": {"b": []}}]
IDS: list[Any] = [1, "a", None, 1.5, 2**70, True, {}, []]
VERSIONS = [b"2025-03-26", b"2025-06-18", b"2025-11-25", b"2026-07-28", b"1900-01-01", b"\xff"]


class Maker:
    """Requests from a seed, some right, most not."""

    def __init__(self, seed: int, sessions: list[bytes]) -> None:
        self.rng = random.Random(seed)
        self.sessions = sessions

    def request(self) -> tuple[str, bytes, list[tuple[bytes, bytes]], bytes]:
        method = self.rng.choices(["POST", "GET", "DELETE", "PUT", "OPTIONS"], [90, 3, 3, 2, 2])[0]
        query = self.rng.choice(
            [b"", b"", b"testId=a", b"testId=%ff", b"testId&testId=b", b"undeclared=x", self._bytes(20)]
        )
        headers = [
            (b"host", self.rng.choice([b"127.0.0.1", b"127.0.0.1", b"localhost:80", b"evil.example", b"[::1]:1"]))
        ]
        for name, values in (
            (b"mcp-session-id", [*self.sessions[-3:], b"none", b""]),
            (b"mcp-protocol-version", VERSIONS),
            (b"mcp-method", [name.encode() for name in METHODS]),
            (b"x-test-id", [b"a", b"%zz", b"\xe9", b""]),
            (b"x-aimock-mcp-undeclared", [b"deny", b" allow ", b"no"]),
            (b"origin", [b"http://localhost:3000", b"http://evil.example", b"null"]),
        ):
            headers += [(name, self.rng.choice(values)) for _ in range(self.rng.choices([0, 1, 2], [6, 4, 1])[0])]
        return method, query, headers, self._body()

    def _body(self) -> bytes:
        kind = self.rng.random()
        if kind < 0.15:
            return self._bytes(60)
        if kind < 0.2:
            return b"[" * self.rng.randint(1, 3000)
        if kind < 0.25:
            return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + self._bytes(10) + b"}"
        messages = [self._message() for _ in range(self.rng.choices([1, 0, 3], [9, 1, 2])[0])]
        value: Any = messages[0] if len(messages) == 1 else messages
        return json.dumps(value).encode()

    def _message(self) -> Any:
        if self.rng.random() < 0.1:
            return self.rng.choice(VALUES)
        message: dict[str, Any] = {"jsonrpc": self.rng.choices(["2.0", "1.0", None], [9, 1, 1])[0]}
        if self.rng.random() < 0.85:
            message["id"] = self.rng.choice(IDS)
        if self.rng.random() < 0.9:
            message["method"] = self.rng.choice([*METHODS, 5])
        if self.rng.random() < 0.85:
            message["params"] = self.rng.choice([self._params(), self._params(), *VALUES])
        return message

    def _params(self) -> dict[str, Any]:
        params: dict[str, Any] = {"name": self.rng.choice(NAMES), "arguments": self.rng.choice(VALUES)}
        if self.rng.random() < 0.4:
            version = self.rng.choice(["2026-07-28", "x", None, 7])
            meta: Any = {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            kinds: list[Any] = [meta, meta, None, []]
            params["_meta"] = self.rng.choice(kinds)
        return params

    def _bytes(self, most: int) -> bytes:
        return self.rng.randbytes(self.rng.randint(0, most))


class Forgetful(MemoryState):
    """A state whose journal is somebody else's: only what a mount itself keeps is looked at."""

    async def ask(self, ask: Any) -> Any:
        told = await super().ask(ask)
        self.journal.clear()
        return told

    async def note(self, mount: str, identity: Identity, request: JournalRequest, session: str | None) -> int:
        """Nothing."""
        return 0


def application() -> tuple[WireApp, list[BaseException]]:
    calls = [{"anyArgs": True, "result": "x", "times": 2_000_000_000}]
    fakes = load(Fakes(), {"mcpFakes": {"scope": "shared", "tools": [{"name": "t", "calls": calls}]}}, CODE).fakes

    async def at() -> MountFakes:
        return fakes.mount("/mcp")

    mount = McpMount("/mcp", FakeService("/mcp", at, Forgetful(cap=10), cap=10), MemorySessions(most=100))
    broken: list[BaseException] = []

    async def handle(request: HttpRequest) -> HttpReply:
        try:
            return await mount.handle(request)
        except BaseException as error:
            broken.append(error)
            raise

    return WireApp(handle, WireLimits(body_bytes=2_000)), broken


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def answered(
    app: WireApp, made: tuple[str, bytes, list[tuple[bytes, bytes]], bytes]
) -> tuple[int, dict[bytes, bytes]]:
    method, query, headers, body = made
    scope = {"type": "http", "method": method, "path": "/mcp", "query_string": query, "headers": headers}
    sent: list[dict[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async with asyncio.timeout(10):
        await app(scope, receive, send)
    assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
    if sent[1]["body"]:
        json.loads(sent[1]["body"])
    return sent[0]["status"], dict(sent[0]["headers"])


async def test_a_hundred_thousand_random_requests_are_answered_and_memory_stays_flat(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    app, broken = application()
    statuses: Counter[int] = Counter()
    sizes: list[int] = []
    sessions: list[bytes] = []
    maker = Maker(7, sessions)
    for number in range(REQUESTS):
        status, headers = await answered(app, maker.request())
        statuses[status] += 1
        await asyncio.sleep(0)  # as a server would: timers that are done with go then
        if session := headers.get(b"mcp-session-id"):
            sessions[:] = [*sessions[-2:], session]
        if number % ROUND == ROUND - 1:
            gc.collect()
            sizes.append(resident_bytes())
    assert broken == []
    assert max(statuses) < 500
    assert {200, 202, 204, 400, 403, 404, 405, 413} <= set(statuses)
    assert sizes[-1] < sizes[1] + 4_000_000, sizes
