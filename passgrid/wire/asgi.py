"""Carries requests of a real HTTP server to a handler, within limits: nobody can hold the process or fill it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from passgrid.wire.http import JSON, Handler, HttpReply, HttpRequest

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})

_Receive: TypeAlias = Callable[[], Awaitable[Mapping[str, Any]]]
_Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Mapping[str, Any], _Receive, _Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class WireLimits:
    """What a client may ask of the process."""

    body_bytes: int = 8_000_000
    reply_bytes: int = 64_000_000
    """Of one reply; a larger one becomes an error."""
    body_seconds: float | None = 20.0
    """Within which a whole request must have come; None: whoever carries it sees to that."""
    at_once: int = 512
    """Requests being answered; more are told to come again."""
    sending_at_once: int = 1_000
    """Clients whose body is still coming."""
    hosts: frozenset[str] = LOOPBACK
    """Names it may be called by: a page in a browser that found it by another name is refused."""


_COME_AGAIN = HttpReply(503, b'{"error":"too many requests at once"}', (JSON, (b"retry-after", b"1")))


class _Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.reply = HttpReply(status, b'{"error":"' + message.encode() + b'"}')


class WireApp:
    """The ASGI application over one handler."""

    def __init__(self, handler: Handler, limits: WireLimits = WireLimits()) -> None:
        self._handler = handler
        self._limits = limits
        self._under_way = 0
        self._sending = 0

    async def __call__(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        await self._answer(scope, receive, send)

    async def _answer(self, scope: Mapping[str, Any], receive: _Receive, send: _Send) -> None:
        try:
            self._check_place(scope)
            request = HttpRequest(
                scope["method"],
                scope["path"],
                scope["query_string"],
                tuple(scope["headers"]),
                await self._body(receive),
            )
        except _Refused as refused:
            await _send_reply(send, refused.reply)
            return
        if self._under_way >= self._limits.at_once:
            await _send_reply(send, _COME_AGAIN)
            return
        # Who is still sending is not under way: somebody who never ends holds nobody else.
        self._under_way += 1
        try:
            reply = await self._handler(request)
        finally:
            self._under_way -= 1
        if len(reply.body) > self._limits.reply_bytes:
            reply = HttpReply(507, b'{"error":"the reply is larger than this gateway sends"}')
        await _send_reply(send, reply)

    def _check_place(self, scope: Mapping[str, Any]) -> None:
        origin = host = b""
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
        if _name_of(host.decode("latin-1")) not in self._limits.hosts:
            raise _Refused(403, "this gateway is not called by that name; see --host-name")
        page = _name_of(origin.decode("latin-1").partition("://")[2])
        if origin and page not in self._limits.hosts:
            raise _Refused(403, "this gateway answers no pages of other hosts")

    async def _body(self, receive: _Receive) -> bytes:
        message = await self._received(receive, self._limits.body_seconds)
        if not message.get("more_body"):
            return self._checked(message.get("body", b""))
        if self._sending >= self._limits.sending_at_once:
            raise _Refused(503, "too many clients are sending at once")
        self._sending += 1
        try:
            return await self._long_body(message, receive)
        finally:
            self._sending -= 1

    async def _long_body(self, message: Mapping[str, Any], receive: _Receive) -> bytes:
        chunks = bytearray(message.get("body", b""))
        seconds = self._limits.body_seconds
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        while message.get("more_body"):
            left = None if deadline is None else deadline - asyncio.get_running_loop().time()
            message = await self._received(receive, left)
            chunks += message.get("body", b"")
            self._checked(chunks)
        return bytes(chunks)

    async def _received(self, receive: _Receive, seconds: float | None) -> Mapping[str, Any]:
        try:
            if seconds is None:
                message = await receive()
            else:
                async with asyncio.timeout(seconds):
                    message = await receive()
        except TimeoutError:
            raise _Refused(408, "the request did not come to its end") from None
        if message["type"] == "http.disconnect":
            raise _Refused(400, "the client left")
        return message

    def _checked(self, body: bytes | bytearray) -> bytes:
        if len(body) > self._limits.body_bytes:
            raise _Refused(413, f"a request may have {self._limits.body_bytes} bytes")
        return body if isinstance(body, bytes) else b""


async def _send_reply(send: _Send, reply: HttpReply) -> None:
    if reply.stream is None:
        length = (b"content-length", str(len(reply.body)).encode())
        await send({"type": "http.response.start", "status": reply.status, "headers": [*reply.headers, length]})
        await send({"type": "http.response.body", "body": reply.body})
        return
    await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
    async for chunk in reply.stream:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _lifespan(receive: _Receive, send: _Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _name_of(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
