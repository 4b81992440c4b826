"""A row in the audit for every request that may change something: written before it, ended before it is answered."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from passgrid.access import Caller
from passgrid.warehouse import audit

HARMLESS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


def note(request: Request, **facts: Any) -> None:
    """Add what a handler knows about the change to its row."""
    request.state.audit_detail = {**getattr(request.state, "audit_detail", {}), **facts}


async def refused(scope: Scope, engine: sa.Engine, status: int, problem: str) -> None:
    """The row of a request that does not come in, whether or not it is known who asks."""
    if scope["method"] in HARMLESS:
        return
    caller: Caller | None = scope.get("state", {}).get("caller")
    actor = caller.name if caller else None

    def write() -> None:
        with engine.begin() as connection:
            audit.record(
                connection, actor, scope["method"], scope["path"], "refused", detail={"problem": problem}, status=status
            )

    await run_in_threadpool(write)


async def audited(app: ASGIApp, scope: Scope, receive: Receive, send: Send, *, engine: sa.Engine, actor: str) -> None:
    """Run the application with a row around it, if the request may change something."""
    if scope["method"] in HARMLESS:
        await app(scope, receive, send)
        return

    def begin() -> int:
        with engine.begin() as connection:
            return audit.begin(connection, actor, scope["method"], scope["path"])

    entry = await run_in_threadpool(begin)

    def end(status: int) -> None:
        outcome = "done" if status < 400 else "refused" if status < 500 else "failed"
        detail: dict[str, Any] = scope["state"].get("audit_detail", {})
        with engine.begin() as connection:
            audit.end(connection, entry, outcome, action=_action(scope), detail=detail, status=status)

    ended = False

    async def end_and_send(message: Message) -> None:
        nonlocal ended
        if message["type"] == "http.response.start" and not ended:
            ended = True
            await run_in_threadpool(end, message["status"])
        await send(message)

    try:
        await app(scope, receive, end_and_send)
    except Exception:
        if not ended:
            await run_in_threadpool(end, 500)
        raise


def _action(scope: Scope) -> str:
    """The method with the template of its route, where one was found."""
    route: Any = scope.get("route")
    path: str | None = getattr(route, "path", None)
    return f"{scope['method']} {path}" if path else scope["method"]
