"""Tools of live MCP servers: a fresh session per attempt, closed with it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TextIO, cast

from fastmcp.client.transports import StdioTransport
from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from passgrid.failure_kinds import SERVER_LOST
from passgrid.failures import ServerLost, failure_kind
from passgrid.json_values import is_object
from passgrid.redaction import Redactor
from passgrid.scenario import HttpServer, StdioServer
from passgrid.server_environment import server_environment
from passgrid.tools.declared import filled
from passgrid.tools.way import OfferedTool, ToolNameConflict

log = logging.getLogger(__name__)

LOGGED_BYTES = 8_000
"""The end of what a server wrote to stderr."""

INIT_SECONDS = 60.0
"""How long a server may take to start: several that import much start at once."""


class LiveTools:
    """The tool side of live servers."""

    answered = "live"

    def __init__(self, toolsets: Mapping[str, MCPToolset[Any]]) -> None:
        self._toolsets = toolsets
        self._tools: dict[str, ToolsetTool[Any]] = {}

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """Everything the servers list, server by server. Raises `ToolNameConflict`."""
        offered: list[OfferedTool] = []
        for server, toolset in self._toolsets.items():
            for name, tool in (await toolset.get_tools(ctx)).items():
                if name in self._tools:
                    raise ToolNameConflict(f"two servers offer a tool called {name}; one of them is {server}")
                self._tools[name] = tool
                offered.append(OfferedTool(server, tool.tool_def, reads=_reads(tool)))
        return offered

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """Ask the server. Raises what its client raises, and `ServerLost` where the server went away."""
        name = tool.definition.name
        try:
            return await self._toolsets[tool.server].call_tool(name, arguments, ctx, self._tools[name])
        except ModelRetry as error:
            # The client would have the model read that the connection closed, and go on with a new, empty server.
            if (lost := _lost(error)) is not None:
                raise ServerLost(f"server {tool.server} went away during {name}: {lost}") from error
            raise


def _reads(tool: ToolsetTool[Any]) -> bool:
    annotations: Any = (tool.tool_def.metadata or {}).get("annotations")
    return is_object(annotations) and annotations.get("readOnlyHint") is True


def _lost(error: BaseException) -> str | None:
    """What a client says of a connection that broke; None for any other error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) if failure_kind(error) == SERVER_LOST else None


@contextlib.asynccontextmanager
async def live_tools(
    servers: Mapping[str, StdioServer | HttpServer], suite: Path | None, workspace: Path | None, redactor: Redactor
) -> AsyncGenerator[LiveTools]:
    """Start or connect to every server of a scenario, and close or end them all at the end.

    What servers write to stderr is logged when they ended, without the secrets `redactor` knows.
    """
    places = {"suite": suite, "workspace": workspace}
    async with contextlib.AsyncExitStack() as stack:
        toolsets: dict[str, MCPToolset[Any]] = {}
        for name, server in servers.items():
            said = stack.enter_context(_logged(name, redactor))
            toolset = _toolset(name, server, places, said)
            toolsets[name] = await stack.enter_async_context(toolset)
        yield LiveTools(toolsets)


@contextlib.contextmanager
def _logged(server: str, redactor: Redactor) -> Generator[IO[str]]:
    """A file for what a server writes to stderr; its end is logged."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        yield said
        said.seek(max(0, said.seek(0, os.SEEK_END) - LOGGED_BYTES))
        for line in filter(None, map(str.rstrip, said)):
            log.info("server %s: %s", server, redactor.text(line))


def _toolset(
    name: str, server: StdioServer | HttpServer, places: Mapping[str, Path | None], said: IO[str]
) -> MCPToolset[Any]:
    if isinstance(server, HttpServer):
        return MCPToolset(
            server.url,
            headers={key: filled(value, places) for key, value in server.headers.items()} or None,
            id=name,
            tool_error_behavior="failed",
            init_timeout=INIT_SECONDS,
        )
    transport = StdioTransport(
        log_file=cast(TextIO, said),
        command=sys.executable if server.command == "python" else server.command,
        args=[filled(arg, places) for arg in server.args],
        env=server_environment({key: filled(value, places) for key, value in server.env.items()}),
        cwd=str(places["workspace"]) if places["workspace"] else None,
        keep_alive=False,
    )
    return MCPToolset(transport, id=name, tool_error_behavior="failed", init_timeout=INIT_SECONDS)
