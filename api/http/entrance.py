"""What every request passes first: is it meant for us, who asks, and is it written down."""

from __future__ import annotations

from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.auditing import audited, refused
from api.http.authentication import Refused, authenticate, check_host
from api.http.problems import AWAY, refusal
from api.http.settings import HttpSettings
from passgrid.access import Caller

OPEN = frozenset({"/health", "/ready"})
"""Paths that need no token: they say whether the server is there, and nothing else."""

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""With every answer: it is data, to be neither shown as a page nor kept. No CORS headers: pages of other sites may not
read it."""


class Entrance:
    """The outermost layer of the application: nothing behind it is reached by somebody unknown."""

    def __init__(self, app: ASGIApp, settings: HttpSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        engine: sa.Engine = scope["app"].state.engine
        try:
            await self._let_in(scope, receive, send, engine)
        except Refused as error:
            with suppress(OperationalError):
                await refused(scope, engine, error.status, error.problem)
            await refusal(error.status, [error.problem], error.headers)(scope, receive, send)
        except OperationalError:
            await refusal(503, [AWAY])(scope, receive, send)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, engine: sa.Engine) -> None:
        connection = HTTPConnection(scope)
        check_host(connection, self._settings)
        if scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        caller: Caller = await run_in_threadpool(authenticate, connection, engine, self._settings)
        connection.state.caller = caller
        if _holds_nul(scope):
            raise Refused(400, "the address holds a NUL character, which no name has")
        await audited(self._app, scope, receive, send, engine=engine, actor=caller.name)


def _holds_nul(scope: Scope) -> bool:
    query: bytes = scope["query_string"]
    return "\0" in scope["path"] or b"\0" in query or b"%00" in query


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
