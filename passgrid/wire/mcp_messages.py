"""One message of MCP becomes its answer, whatever carried it, in every version of the protocol."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from passgrid.harness import installed_harness
from passgrid.json_values import is_object
from passgrid.wire.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError
from passgrid.wire.mcp_service import Caller, McpService
from passgrid.wire.mcp_sessions import SessionEnded

log = logging.getLogger(__name__)

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"

_CACHEABLE = frozenset(
    {"tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "server/discover"}
)
_NOTHING_TO_SAY = frozenset({"ping", "logging/setLevel"})
"""Methods of the protocol with a handshake that need no answer but that one came; the stateless one has neither."""


def server_info() -> dict[str, str]:
    """How the gateway names itself to clients."""
    return {"name": "passgrid", "version": installed_harness().passgrid}


def problem_of(message: Any) -> str | None:
    """Why this is no message of JSON-RPC; None where it is one."""
    if not is_object(message):
        return "a message is an object"
    if message.get("jsonrpc") != "2.0":
        return 'a message has "jsonrpc": "2.0"'
    identifier = message.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int | float | None):
        return "id must be a string, a number or null"
    if "method" in message:
        return None if isinstance(message["method"], str) else "method must be a string"
    return None if "result" in message or "error" in message else "a message has a method, a result or an error"


def is_answer(message: Mapping[str, Any]) -> bool:
    """Whether it answers a request of ours, of which there are none."""
    return "method" not in message


def result_message(identifier: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def error_message(identifier: Any, error: RpcError) -> dict[str, Any]:
    """The answer to a request that failed."""
    return {"jsonrpc": "2.0", "id": identifier, "error": error.body()}


def invalid_message(message: Any, problem: str) -> dict[str, Any]:
    """The answer to what is no message."""
    identifier: Any = message.get("id") if is_object(message) else None
    known = isinstance(identifier, str | int | float) and not isinstance(identifier, bool)
    return error_message(identifier if known else None, RpcError(INVALID_REQUEST, f"Invalid Request: {problem}"))


class Messages:
    """Answers messages of clients of one service."""

    def __init__(self, service: McpService) -> None:
        self.service = service

    async def answer(self, caller: Caller, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a valid message; None for a notification. A message without `id` asks for nothing.

        Raises `SessionEnded`.
        """
        caller = replace(caller, message=message)
        if "id" not in message:
            await self.service.noted(caller)
            return None
        identifier = message["id"]
        try:
            result = await self._result(caller, message)
        except RpcError as error:
            return error_message(identifier, error)
        except SessionEnded:
            raise
        except Exception:
            log.exception("answering %s broke", message["method"])
            return error_message(identifier, RpcError(INTERNAL_ERROR, "Internal error"))
        if caller.version == MODERN_VERSION:
            result = _modern(message["method"], result)
        return result_message(identifier, result)

    async def invalid(self, caller: Caller, message: Any, problem: str) -> dict[str, Any]:
        """The answer to what is no message; it is in the journal all the same."""
        await self.service.noted(replace(caller, message=message))
        return invalid_message(message, problem)

    async def initialized(self, caller: Caller, message: Mapping[str, Any], version: str) -> dict[str, Any]:
        """The answer to `initialize`."""
        await self.service.noted(replace(caller, message=message))
        result = {
            "protocolVersion": version,
            "capabilities": dict(self.service.capabilities()),
            "serverInfo": server_info(),
        }
        return result_message(message["id"], result)

    async def _result(self, caller: Caller, message: Mapping[str, Any]) -> Mapping[str, Any]:
        method, params = message["method"], message.get("params", {})
        if method == "tools/call":
            if not is_object(params):
                raise RpcError(INVALID_PARAMS, "params must be an object")
            return await self.service.call(caller, params)
        caller = replace(caller, row=await self.service.noted(caller))
        if not is_object(params):
            raise RpcError(INVALID_PARAMS, "params must be an object")
        if method in _NOTHING_TO_SAY and caller.version != MODERN_VERSION:
            return {}
        if method == "tools/list":
            return {"tools": list(await self.service.tools(caller))}
        if method == "server/discover" and caller.version == MODERN_VERSION:
            return {"supportedVersions": [MODERN_VERSION], "capabilities": dict(self.service.capabilities())}
        return await self.service.other(caller, method, params)


def agreed_version(message: Mapping[str, Any]) -> str:
    """The version of a session: the one the client wants, where it has a handshake, else the newest that has."""
    params = message.get("params")
    wanted = params.get("protocolVersion") if is_object(params) else None
    return wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]


def _modern(method: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """What the stateless protocol wants of every result."""
    meta: Any = result.get("_meta")
    stamped = {SERVER_INFO_KEY: server_info(), **(meta if is_object(meta) else {})}
    cached = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    return {"resultType": "complete", **cached, **result, "_meta": stamped}
