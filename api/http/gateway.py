"""The gateway below `/gateway`: as `passgrid gateway serve`, over this API's database and behind its tokens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from api.http.roles import GuardedRoute, needs
from passgrid.access import Role
from passgrid.wire.http import HttpReply, HttpRequest

if TYPE_CHECKING:
    from api.gateway.gateway import Gateway

router = APIRouter(tags=["gateway"], route_class=GuardedRoute, dependencies=[needs(Role.SUBMIT)])

PREFIX = "/gateway"
_OPENING = asyncio.Lock()


@router.api_route(PREFIX + "/{path:path}", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def gateway(path: str, request: Request) -> Response:
    """MCP mounts, and the control API below `/__aimock`; the header x-passgrid-token names a token of one test."""
    made = await _gateway(request)
    asked = HttpRequest(
        request.method,
        "/" + path,
        request.scope["query_string"],
        tuple(request.scope["headers"]),
        await request.body(),
    )
    reply: HttpReply = await made.handle(asked)
    headers: Mapping[str, str] = {name.decode(): value.decode() for name, value in reply.headers}
    if reply.stream is not None:
        return StreamingResponse(reply.stream, reply.status, headers=headers)
    return Response(reply.body, reply.status, headers=headers)


async def _gateway(request: Request) -> Gateway:
    """The gateway of this process, made at the first request: most of them never serve one."""
    state = request.app.state
    async with _OPENING:
        if getattr(state, "gateway", None) is None:
            from api.gateway.serving import Served, gateway
            from passgrid.warehouse.engine import libpq_url

            url = os.environ["PASSGRID_DATABASE_URL"]
            stack: AsyncExitStack = state.closing
            state.gateway = await stack.enter_async_context(gateway(Served(), url, libpq_url(url)))
    return state.gateway
