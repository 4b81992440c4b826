"""What stands behind an MCP mount: where its tools, resources and prompts come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """For whom a request is: which test, in which context, and how undeclared tools are to be treated."""

    test_id: str | None = None
    context: str | None = None
    undeclared: str | None = None
    """allow or deny, where the request or its session says so."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a message over MCP."""

    identity: Identity = Identity()
    session: str | None = None
    """The session's id; None in the stateless protocol, and where there is one client alone."""
    version: str = ""
    """The protocol version spoken."""
    method: str = ""
    path: str = ""
    headers: Mapping[str, str] | None = None
    """Of the HTTP request, for the journal; None where there was none."""
    message: Mapping[str, Any] | None = None
    """The message as it came, for the journal."""
    row: int = 0
    """The journal's row of this message, once there is one."""


class McpService(Protocol):
    """Answers what clients ask of one MCP server. Every method raises `RpcError` for an answer that is an error."""

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """The tools, as tools/list lists them."""
        ...

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of tools/call with these params (`name`, `arguments`, `_meta`), unchecked."""
        ...

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of any further method: resources, prompts, completion; METHOD_NOT_FOUND where there is none."""
        ...

    async def noted(self, caller: Caller) -> int:
        """Told of every message that is not answered by `call`, for the journal; returns its row, else 0."""
        ...

    def capabilities(self) -> Mapping[str, Any]:
        """What the server says it can do, as in the answer to initialize."""
        ...
