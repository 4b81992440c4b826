"""Streamable HTTP for one MCP server: sessions (2024-11-05 to 2025-11-25) and the stateless 2026-07-28."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from passgrid.json_values import is_array, is_object
from passgrid.wire.http import JSON, Header, HttpReply, HttpRequest
from passgrid.wire.json_rpc import INVALID_REQUEST, PARSE_ERROR, RpcError
from passgrid.wire.json_text import BadJson, dump, parse
from passgrid.wire.mcp_identity import BadIdentity, over, request_identity
from passgrid.wire.mcp_messages import (
    HANDSHAKE_VERSIONS,
    Messages,
    agreed_version,
    error_message,
    is_answer,
    problem_of,
)
from passgrid.wire.mcp_service import Caller, Identity, McpService
from passgrid.wire.mcp_sessions import Session, SessionEnded, Sessions
from passgrid.wire.mcp_stateless import is_stateless, rejection

_SESSION = b"mcp-session-id"
_NO_SESSION = -32000
_NOT_INITIALIZED = -32002
_BEFORE_INITIALIZED = frozenset({"ping", "notifications/initialized"})


class McpMount:
    """Answers the requests that come to one path."""

    def __init__(self, path: str, service: McpService, sessions: Sessions) -> None:
        self._path = path
        self._messages = Messages(service)
        self._sessions = sessions

    async def handle(self, request: HttpRequest, bound: Identity = Identity()) -> HttpReply:  # noqa: B008 - frozen
        """The reply to a request. `bound` is whom its token stands for: it goes before whatever the request says."""
        if request.method == "DELETE":
            return await self._delete(request)
        if request.method != "POST":
            return HttpReply(405, b"", ((b"allow", b"POST, DELETE"),))
        try:
            asked = over(request_identity(request), bound)
        except BadIdentity as error:
            return _json(400, error.body)
        try:
            body = parse(request.body)
        except BadJson as error:
            return _json(200, error_message(None, RpcError(PARSE_ERROR, f"Parse error: {error}")))
        if is_stateless(request, body):
            return await self._stateless(request, asked, body)
        if is_object(body) and body.get("method") == "initialize" and "id" in body and problem_of(body) is None:
            return await self._initialize(request, asked, body)
        return await self._in_session(request, asked, body)

    async def _delete(self, request: HttpRequest) -> HttpReply:
        session = await self._session(request)
        if isinstance(session, HttpReply):
            return session
        await self._sessions.end(session)
        return HttpReply(204, b"", ())

    async def _initialize(self, request: HttpRequest, asked: Identity, message: Mapping[str, Any]) -> HttpReply:
        version = agreed_version(message)
        session = await self._sessions.begin(self._path, version, asked)
        caller = _caller(request, asked, session.session_id, version)
        answer = await self._messages.initialized(caller, message, version)
        return _json(200, answer, ((_SESSION, session.session_id.encode()),))

    async def _in_session(self, request: HttpRequest, asked: Identity, body: Any) -> HttpReply:
        session = await self._session(request)
        if isinstance(session, HttpReply):
            return session
        messages = body if is_array(body) else [body]
        if not messages:
            return _json(200, error_message(None, RpcError(INVALID_REQUEST, "Invalid Request: an empty batch")))
        if not session.initialized and not all(_may_come_early(message) for message in messages):
            error = RpcError(_NOT_INITIALIZED, "Session not initialized: notifications/initialized has not come")
            return _json(400, error_message(None, error))
        caller = _caller(request, over(session.identity, asked), session.session_id, session.version)
        answers: list[dict[str, Any]] = []
        try:
            for message in messages:
                if (answer := await self._answer(caller, session, message)) is not None:
                    answers.append(answer)
        except SessionEnded:
            return _NOT_FOUND
        if not answers:
            return HttpReply(202, b"", ())
        return _json(200, answers if is_array(body) else answers[0])

    async def _answer(self, caller: Caller, session: Session, message: Any) -> dict[str, Any] | None:
        if (problem := problem_of(message)) is not None:
            return await self._messages.invalid(caller, message, problem)
        if is_answer(message):
            return None
        if message["method"] == "initialize" and "id" in message:
            return error_message(message["id"], RpcError(INVALID_REQUEST, "Invalid Request: initialize stands alone"))
        if message["method"] == "notifications/initialized":
            await self._sessions.initialized(session)
        return await self._messages.answer(caller, message)

    async def _stateless(self, request: HttpRequest, asked: Identity, body: Any) -> HttpReply:
        if (refused := rejection(request, body)) is not None:
            return _json(*refused)
        caller = _caller(request, asked, None, "2026-07-28")
        answer = await self._messages.answer(caller, body)
        return HttpReply(202, b"", ()) if answer is None else _json(_status(answer), answer)

    async def _session(self, request: HttpRequest) -> Session | HttpReply:
        """The session a request belongs to, or why it has none."""
        session_id = request.header(_SESSION)
        if not session_id:
            return _json(400, error_message(None, RpcError(_NO_SESSION, "Bad Request: missing Mcp-Session-Id header")))
        session = await self._sessions.find(self._path, session_id)
        if session is None:
            return _NOT_FOUND
        version = request.header(b"mcp-protocol-version")
        if version is not None and version not in HANDSHAKE_VERSIONS:
            error = RpcError(_NO_SESSION, f"Bad Request: unsupported protocol version {version[:50]!r}")
            return _json(400, error_message(None, error))
        return session


def _status(answer: Mapping[str, Any]) -> int:
    """In the stateless protocol, an unknown method has a status of its own; errors of fakes are answers (200)."""
    return 404 if answer.get("error", {}).get("code") == -32601 else 200


def _caller(request: HttpRequest, identity: Identity, session: str | None, version: str) -> Caller:
    return Caller(identity, session, version, request.method, request.path, _named(request.headers))


@lru_cache(maxsize=4_096)
def _named(headers: tuple[Header, ...]) -> Mapping[str, str]:
    """By name, for the journal; a client sends the same ones again and again."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _may_come_early(message: Any) -> bool:
    return is_object(message) and (message.get("method") in _BEFORE_INITIALIZED or problem_of(message) is not None)


def _json(status: int, body: Any, headers: tuple[Header, ...] = ()) -> HttpReply:
    return HttpReply(status, dump(body), (JSON, *headers))


_NOT_FOUND = _json(404, error_message(None, RpcError(_NO_SESSION, "Session not found; initialize again")))
