"""A recording Streamable HTTP proxy: what passes is not changed, and its JSON-RPC frames are kept, never a header.

It listens on the loopback only and answers only requests that are meant for it: a page in a browser cannot use it
(`Host` and `Origin` are checked). It follows no redirect, so nothing is sent to another place than the one named.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from passgrid.problems import InvalidInput, Problem
from passgrid.tapes.exchanges import CANCELLED
from passgrid.tapes.frames import Body, Frame, is_request
from passgrid.tapes.http_bodies import EventFrames, is_event_stream, json_frames
from passgrid.tapes.session_files import SessionFiles
from passgrid.tapes.writer import TapeWriter

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
CONNECT_SECONDS = 10.0
CLIENT_LEFT = 499
"""What nobody reads: the client is gone."""

_NOT_FORWARDED = frozenset(
    {"host", "origin", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
     "content-length", "accept-encoding", "content-encoding"}
)  # fmt: skip
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server behind the proxy."""

    url: str

    @property
    def shown(self) -> str:
        """Scheme, host and port: user names, paths and queries may hold secrets."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"


def upstream_of(url: str) -> Upstream:
    """Check the address of a server. Raises `InvalidInput`, without showing what may be a secret in it."""
    parts = urlsplit(url)
    try:
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise InvalidInput([Problem("URL", "is not an http or https address", "for example http://127.0.0.1:3001/mcp")])
    return Upstream(url)


class RecordingProxy:
    """Passes requests on and keeps what they hold."""

    def __init__(self, upstream: Upstream, files: SessionFiles, transport: Any = None) -> None:
        self._upstream = upstream
        self._files = files
        self._exchanges = count(1)
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        self._client = httpx2.AsyncClient(follow_redirects=False, timeout=timeout, transport=transport)

    def app(self) -> Starlette:
        """The ASGI application."""
        return Starlette(routes=[Route(PATH, self._handle, methods=["GET", "POST", "DELETE"])], lifespan=self._lifespan)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None]:
        async with self._client:
            yield

    async def _handle(self, request: Request) -> Response:
        if (refusal := _refusal(request.headers)) is not None:
            return _error(403, refusal)
        data = await request.body()
        asked, number = json_frames(data), next(self._exchanges)
        session = request.headers.get(SESSION_HEADER)
        writer = self._files.writer_for(session, asked)
        for body in asked:
            writer.add(Frame("client", body, number))
        headers = _forwarded(request.headers) | {"accept-encoding": "identity"}
        outgoing = self._client.build_request(request.method, self._upstream.url, headers=headers, content=data)
        try:
            response = await self._answer(request, outgoing)
        except httpx2.HTTPError as error:
            return _error(502, f"{self._upstream.shown} cannot be reached: {type(error).__name__}", asked)
        if response is None:
            _given_up(writer, asked, number)
            return Response(status_code=CLIENT_LEFT)
        if response.is_redirect:
            await response.aclose()
            return _error(502, f"{self._upstream.shown} redirects; name the address it redirects to", asked)
        if (named := response.headers.get(SESSION_HEADER)) is not None:
            self._files.name(named, writer)
        if request.method == "DELETE" and session is not None and response.is_success:
            self._files.end(session)
        kept = self._kept(response, writer, number, asked)
        return StreamingResponse(kept, response.status_code, headers=_forwarded(response.headers))

    async def _answer(self, request: Request, outgoing: httpx2.Request) -> httpx2.Response | None:
        """The server's answer, its body still to come; None where the client left before."""
        response: httpx2.Response | None = None
        failure: httpx2.HTTPError | None = None
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            async def send() -> None:
                nonlocal response, failure
                try:
                    response = await self._client.send(outgoing, stream=True)
                except httpx2.HTTPError as error:
                    failure = error
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            tasks.start_soon(send)
        if failure is not None:
            raise failure
        return response

    async def _kept(
        self, response: httpx2.Response, writer: TapeWriter, number: int, asked: list[Body]
    ) -> AsyncIterator[bytes]:
        """The body as it comes; a frame is on the tape before its end is passed on."""
        content = _JsonFrames() if not is_event_stream(response.headers.get("content-type")) else EventFrames()
        ended = False
        try:
            async for chunk in response.aiter_bytes():
                for body in content.feed(chunk):
                    writer.add(Frame("server", body, number))
                yield chunk
            ended = True
        finally:
            if not ended:
                _given_up(writer, asked, number)
            await response.aclose()


class _JsonFrames:
    """The messages of a JSON body, at the chunk that completes it."""

    def __init__(self) -> None:
        self._whole = bytearray()
        self._done = False

    def feed(self, chunk: bytes) -> list[Body]:
        self._whole += chunk
        # Parsing at every chunk would take the square of the length.
        if self._done or not self._whole.rstrip().endswith((b"}", b"]")):
            return []
        bodies = json_frames(bytes(self._whole))
        self._done = bool(bodies)
        return bodies


def _given_up(writer: TapeWriter, asked: list[Body], number: int) -> None:
    """Without handshake there is no message for it: closing the response is what cancels a request."""
    if writer.era is None or writer.era.name != "modern":
        return
    for body in filter(is_request, asked):
        params = {"requestId": body["id"], "reason": "the client closed the response"}
        writer.add(Frame("client", {"jsonrpc": "2.0", "method": CANCELLED, "params": params}, number))


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_FORWARDED}


def _refusal(headers: Mapping[str, str]) -> str | None:
    """Why a request is not answered: it was meant for another host, or sent by a page of one."""
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    if host not in LOOPBACK:
        return "this recorder answers only requests to 127.0.0.1 or localhost"
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).hostname not in {"127.0.0.1", "localhost", "::1"}:
        return "this recorder answers no pages of other hosts"
    return None


def _error(status: int, message: str, asked: list[Body] | None = None) -> Response:
    answer_to = asked[0].get("id") if asked else None
    error = {"code": -32000, "message": f"passgrid record: {message}"}
    return JSONResponse({"jsonrpc": "2.0", "id": answer_to, "error": error}, status)
