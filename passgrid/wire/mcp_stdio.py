"""One MCP server on two streams of lines: a client started us, and is the only one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from passgrid.json_values import is_array
from passgrid.wire.json_rpc import INVALID_REQUEST, PARSE_ERROR, RpcError
from passgrid.wire.json_text import BadJson, dump, parse
from passgrid.wire.mcp_messages import (
    MODERN_VERSION,
    Messages,
    agreed_version,
    error_message,
    is_answer,
    problem_of,
)
from passgrid.wire.mcp_service import Caller, Identity, McpService
from passgrid.wire.mcp_stateless import PROTOCOL_KEY, meta_of

NOT_INITIALIZED = -32002

Write = Callable[[bytes], Awaitable[None]]


class StdioFront:
    """Answers one client. Requests are answered as they come, several at once; each answer is one line."""

    def __init__(self, service: McpService, identity: Identity, mount: str) -> None:
        self._messages = Messages(service)
        self._identity = identity
        self._mount = mount
        self._version: str | None = None
        self._initialized = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, lines: AsyncIterator[bytes], write: Write) -> None:
        """Answer until the lines end, and what is still under way after that."""
        async for line in lines:
            if not line.strip():
                continue
            task = asyncio.create_task(self._answer_line(line, write))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            # Messages are looked at in the order they came: a claim of a later one is made later.
            await asyncio.sleep(0)
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _answer_line(self, line: bytes, write: Write) -> None:
        answer = await self.answer(line)
        if answer is not None:
            await write(dump(answer) + b"\n")

    async def answer(self, line: bytes) -> Any:
        """The answer to one line, a message or a batch; None where there is nothing to say."""
        try:
            body = parse(line)
        except BadJson as error:
            return error_message(None, RpcError(PARSE_ERROR, f"Parse error: {error}"))
        if not is_array(body):
            return await self._one(body)
        if not body:
            return error_message(None, RpcError(INVALID_REQUEST, "Invalid Request: an empty batch"))
        answers = [answer for message in body if (answer := await self._one(message)) is not None]
        return answers or None

    async def _one(self, message: Any) -> dict[str, Any] | None:
        if (problem := problem_of(message)) is not None:
            return await self._messages.invalid(self._caller(self._version or ""), message, problem)
        if is_answer(message):
            return None
        if message["method"] == "initialize" and "id" in message:
            self._version = agreed_version(message)
            return await self._messages.initialized(self._caller(self._version), message, self._version)
        if meta_of(message).get(PROTOCOL_KEY) is not None:
            return await self._messages.answer(self._caller(MODERN_VERSION), message)
        return await self._in_session(message)

    async def _in_session(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message["method"] == "notifications/initialized":
            self._initialized = self._version is not None
        elif message["method"] != "ping" and not self._initialized and "id" in message:
            if message["method"] == "server/discover":
                return await self._messages.answer(self._caller(""), message)
            return error_message(message["id"], RpcError(NOT_INITIALIZED, "Session not initialized"))
        return await self._messages.answer(self._caller(self._version or ""), message)

    def _caller(self, version: str) -> Caller:
        return Caller(self._identity, None, version, "stdio", self._mount)
