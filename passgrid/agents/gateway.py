"""The private gateway of one attempt: tools and model for whoever knows its token."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Protocol

from passgrid.agents.environment import ALL_TOOLS_PATH, server_path
from passgrid.agents.tool_service import ToolCalls, ToolService
from passgrid.wire.http import Handler, HttpReply, HttpRequest
from passgrid.wire.mcp_mount import McpMount
from passgrid.wire.mcp_sessions import MemorySessions

_WANTS_TOKEN = b'{"error":{"type":"authentication_error","message":"this gateway wants the token of the attempt"}}'


class ModelSide(Protocol):
    """Model APIs, as `passgrid.model_api` speaks them."""

    def handles(self, path: str) -> bool:
        """Whether a path is one of a model API."""
        ...

    async def handle(self, request: HttpRequest) -> HttpReply:
        """Answer a request."""
        ...


class AgentGateway:
    """Looks at the token, then at the path."""

    def __init__(self, token: str, mounts: Mapping[str, Handler], models: ModelSide) -> None:
        self._token = token.encode()
        self._mounts = mounts
        self._models = models

    async def handle(self, request: HttpRequest) -> HttpReply:
        """The reply to a request: 401 without the token, 404 where nothing is."""
        if not self._knows_token(request):
            return HttpReply(401, _WANTS_TOKEN)
        path = request.path.rstrip("/") or "/"
        if (mount := self._mounts.get(path)) is not None:
            return await mount(request)
        if self._models.handles(request.path):
            return await self._models.handle(request)
        return HttpReply(404, b'{"error":{"type":"not_found_error","message":"nothing is here"}}')

    def _knows_token(self, request: HttpRequest) -> bool:
        scheme, _, bearer = (request.header(b"authorization") or "").partition(" ")
        given = [bearer.strip()] if scheme.lower() == "bearer" else []
        given.append(request.header(b"x-api-key") or "")
        return any(hmac.compare_digest(one.encode(), self._token) for one in given)


def tool_mounts(calls: ToolCalls, servers: tuple[str, ...]) -> dict[str, Handler]:
    """All tools at one path, and each server's at its own."""
    sessions = MemorySessions(most=10_000)
    places = {ALL_TOOLS_PATH: None, **{server_path(name): name for name in servers}}
    return {path: McpMount(path, ToolService(calls, server), sessions).handle for path, server in places.items()}
