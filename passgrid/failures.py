"""What kind of failure an exception is, and whether trying again may help."""

from __future__ import annotations

import sys
from typing import cast

import anyio
import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)

from passgrid.failure_kinds import (
    AUTHENTICATION,
    CONNECTION,
    CONTEXT_OVERFLOW,
    RATE_LIMIT,
    SERVER_ERROR,
    SERVER_LOST,
    UNEXPECTED,
)


class NotLoggedIn(Exception):
    """A hosted server wants a login, and there is none that is good; the message says how to make one."""


class ServerLost(Exception):
    """An MCP server went away during an attempt."""


_KINDS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (ModelRateLimitError, RATE_LIMIT),
    (ModelQuotaExceededError, "quota"),
    ((ModelUnavailableError, ModelServerError), SERVER_ERROR),
    ((ModelConnectionError, ModelRequestTimeout), CONNECTION),
    (ModelContextWindowExceededError, CONTEXT_OVERFLOW),
    (ModelAuthenticationError, AUTHENTICATION),
    (ModelNotFoundError, "model_not_found"),
    (ModelRequestRejectedError, "bad_request"),
    (AgentRunError, "agent"),
    (ServerLost, SERVER_LOST),
    (NotLoggedIn, "not_logged_in"),
    ((anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream), SERVER_LOST),
    (httpx2.TransportError, SERVER_LOST),
    (MemoryError, "memory"),
)


def failure_kind(error: BaseException) -> str:
    """The kind of a failure in a live model or tool call; `unexpected` for what nobody foresaw."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        kinds = [failure_kind(one) for one in group.exceptions]
        return next((kind for kind in kinds if kind != UNEXPECTED), UNEXPECTED)
    # Imported by whoever raises it: on its own it takes a second.
    mcp = sys.modules.get("mcp")
    if mcp is not None and isinstance(error, mcp.MCPError) and "closed" in str(error).lower():
        return SERVER_LOST
    return next((kind for types, kind in _KINDS if isinstance(error, types)), UNEXPECTED)
