"""Clients whose sessions can be compared: every result, error, notification and question, as text."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotificationParams,
    PromptReference,
    Root,
    TextContent,
)
from pydantic import BaseModel, FileUrl


@contextlib.asynccontextmanager
async def in_memory(server: MCPServer) -> AsyncGenerator[tuple[Any, Any]]:
    """A transport to a server in this process."""
    lowlevel = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]
    async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as tasks:
        tasks.start_soon(lowlevel.run, read, write, lowlevel.create_initialization_options())
        yield client
        tasks.cancel_scope.cancel()


@dataclass
class Seen:
    """What a client saw of a session."""

    results: list[str] = field(default_factory=list[str])
    progress: list[str] = field(default_factory=list[str])
    logs: list[str] = field(default_factory=list[str])
    questions: list[str] = field(default_factory=list[str])
    rhyme: str = "spoon"
    """What it answers when it is asked for one."""
    root: str = ""
    """The folder it lets a server use, as a URL; none where it is empty."""

    async def of(self, call: Awaitable[BaseModel]) -> None:
        """Keep the result of a call, or its error."""
        try:
            self.results.append((await call).model_dump_json(by_alias=True))
        except MCPError as error:
            self.results.append(f"error {error.error.model_dump_json()}")

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(f"{progress} of {total}: {message}")

    async def on_log(self, params: LoggingMessageNotificationParams) -> None:
        self.logs.append(f"{params.level}: {params.data}")

    async def on_sampling(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        self.questions.append(params.model_dump_json())
        content = TextContent(type="text", text=self.rhyme)
        return CreateMessageResult(role="assistant", content=content, model="a-model")

    async def on_elicitation(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        return ElicitResult(action="accept", content={"row": 7, "window": True})

    async def on_roots(self, context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(self.root))])

    def client(self, transport: Any, mode: str = "auto") -> Client:
        """A client that tells all it sees."""
        return Client(
            transport,
            mode=mode,
            sampling_callback=self.on_sampling,
            elicitation_callback=self.on_elicitation,
            logging_callback=self.on_log,
            list_roots_callback=self.on_roots if self.root else None,
            log_level="info",
            cache=None,
        )


async def use_everything(client: Client, seen: Seen) -> None:
    """A session with every method a client of either era has."""
    await seen.of(client.list_tools())
    await seen.of(client.call_tool("add", {"a": 1, "b": 2.5}))
    await seen.of(client.call_tool("note", {"text": "one"}))
    await seen.of(client.call_tool("note", {"text": "one"}))
    await seen.of(client.call_tool("broken", {}))
    await seen.of(client.call_tool("unknown", {}))
    await seen.of(client.call_tool("slowly", {"steps": 3}, progress_callback=seen.on_progress))
    await seen.of(client.call_tool("book", {}))
    await seen.of(client.call_tool("rhyme", {"word": "moon"}))
    await seen.of(client.call_tool("never", {}, read_timeout_seconds=0.2))
    await seen.of(client.list_resources())
    await seen.of(client.list_resource_templates())
    await seen.of(client.read_resource("notes://greeting"))
    await seen.of(client.read_resource("notes://nowhere"))
    await seen.of(client.list_prompts())
    await seen.of(client.get_prompt("review", {"code": "x = 1"}))
    language = PromptReference(type="ref/prompt", name="review")
    await seen.of(client.complete(language, {"name": "code", "value": "py"}))
