"""A client that costs little: keep-alive connections, each with one call under way."""

from __future__ import annotations

import asyncio
import json
import time
from urllib.parse import urlsplit

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


class Connection:
    """One connection with its own session."""

    def __init__(self, url: str, path: str = "/mcp") -> None:
        self._host = urlsplit(url).netloc
        self._path = path
        self._session = b""

    async def open(self, *, session: bool = True) -> None:
        """Connect, and have a session."""
        name, _, port = self._host.partition(":")
        self._reader, self._writer = await asyncio.open_connection(name, int(port))
        if session:
            head, _ = await self.post(json.dumps(HELLO).encode())
            names = (line.partition(b":") for line in head.split(b"\r\n"))
            self._session = next(value.strip() for name, _, value in names if name.lower() == b"mcp-session-id")
            await self.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    async def post(self, body: bytes) -> tuple[bytes, bytes]:
        """Head and body of the answer."""
        head = (
            f"POST {self._path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n"
        ).encode()
        if self._session:
            head += b"Mcp-Session-Id: " + self._session + b"\r\n"
        return await self.send(head + b"\r\n" + body)

    async def get(self, path: str) -> tuple[bytes, bytes]:
        """The same for a plain GET."""
        return await self.send(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    async def send(self, request: bytes) -> tuple[bytes, bytes]:
        """Send bytes and read one answer."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        lower = head.lower()
        if b"\ntransfer-encoding: chunked" in lower:
            return head, await self._chunks()
        at = lower.find(b"\ncontent-length:")
        length = int(lower[at + 16 :].partition(b"\r")[0]) if at >= 0 else 0
        return head, await self._reader.readexactly(length) if length else b""

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self._reader.readline(), 16):
            body += (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)
        return body

    def close(self) -> None:
        """Hang up."""
        self._writer.close()


def call_of(tool: str) -> bytes:
    """A call of a tool without arguments."""
    params: dict[str, object] = {"name": tool, "arguments": {}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


async def ask_for(url: str, tool: str, connections: int, seconds: float) -> tuple[int, float]:
    """Calls answered with so many connections, and the seconds they took. Raises where an answer is not the result."""
    opened = [Connection(url) for _ in range(connections)]
    for one in opened:
        await one.open()
    body, stop, calls = call_of(tool), time.perf_counter() + seconds, 0

    async def ask(connection: Connection) -> None:
        nonlocal calls
        while time.perf_counter() < stop:
            _, answer = await connection.post(body)
            if b'"ok"' not in answer:
                raise RuntimeError(f"not the result: {answer[:200]!r}")
            calls += 1

    started = time.perf_counter()
    await asyncio.gather(*(ask(one) for one in opened))
    took = time.perf_counter() - started
    for one in opened:
        one.close()
    return calls, took
