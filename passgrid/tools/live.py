"""Tools of live MCP servers: a fresh session per attempt, closed with it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from passgrid.aftermath.asking import AskedInVain
from passgrid.drift.projection import as_json, projected
from passgrid.failure_kinds import SERVER_LOST
from passgrid.failures import ServerLost, failure_kind
from passgrid.json_values import is_object
from passgrid.messages import plain_content
from passgrid.server import AnyServer, HttpServer
from passgrid.tools.connecting import client_of, private_folder
from passgrid.tools.sessions import Sessions, Surroundings
from passgrid.tools.way import NotDedicated, OfferedTool, ToolNameConflict


class LiveTools:
    """The tool side of live servers."""

    answered = "live"

    def __init__(
        self,
        toolsets: Mapping[str, MCPToolset[Any]],
        shared: frozenset[str] = frozenset(),
        projections: Mapping[str, str | None] | None = None,
    ) -> None:
        """shared: servers that others may use too: none of their tools may write. projections: by server."""
        self._projections = projections or {}
        self._toolsets = toolsets
        self._shared = shared
        self._tools: dict[str, ToolsetTool[Any]] = {}

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """Everything the servers list, server by server. Raises `ToolNameConflict` and `NotDedicated`."""
        offered: list[OfferedTool] = []
        for server, toolset in self._toolsets.items():
            for name, tool in (await toolset.get_tools(ctx)).items():
                if name in self._tools:
                    raise ToolNameConflict(f"two servers offer a tool called {name}; one of them is {server}")
                self._tools[name] = tool
                offered.append(OfferedTool(server, tool.tool_def, reads=_reads(tool)))
        _refuse_writing(offered, self._shared)
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

    async def ask(self, server: str | None, tool: str, arguments: dict[str, Any]) -> Any:
        """What a tool answers, beside the agent and its journal. Raises `AskedInVain`."""
        name, toolset = self._one(server)
        try:
            answer = await toolset.direct_call_tool(tool, arguments)
        except Exception as error:
            raise AskedInVain(
                f"{name}/{tool}: {plain_content(getattr(error, 'message', None) or str(error))}"
            ) from error
        return as_json(projected(plain_content(answer), self._projections.get(name)))

    async def read(self, server: str | None, uri: str) -> Any:
        """What a resource holds. Raises `AskedInVain`."""
        name, toolset = self._one(server)
        try:
            return as_json(plain_content(await toolset.read_resource(uri)))
        except Exception as error:
            raise AskedInVain(f"{name}/{uri}: {error}") from error

    def private_folder(self, server: str | None) -> Path | None:
        """The folder that `${private}` stands for in the server's declaration."""
        return private_folder(self._one(server)[1])

    def _one(self, server: str | None) -> tuple[str, MCPToolset[Any]]:
        if server is None and len(self._toolsets) == 1:
            return next(iter(self._toolsets.items()))
        if server is None or server not in self._toolsets:
            raise AskedInVain(f"which server? there are {', '.join(self._toolsets) or 'none'}")
        return server, self._toolsets[server]


def _refuse_writing(offered: Sequence[OfferedTool], shared: frozenset[str]) -> None:
    for server in sorted(shared):
        writing = [tool.definition.name for tool in offered if tool.server == server and not tool.reads]
        if writing:
            more = ", …" if len(writing) > 5 else ""
            raise NotDedicated(
                f"server {server} is hosted, and {', '.join(writing[:5])}{more} may write there; where nobody else "
                "uses it, declare dedicated: true in its target"
            )


def _reads(tool: ToolsetTool[Any]) -> bool:
    annotations: Any = (tool.tool_def.metadata or {}).get("annotations")
    return is_object(annotations) and annotations.get("readOnlyHint") is True


def _lost(error: BaseException) -> str | None:
    """What a client says of a connection that broke; None for any other error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) if failure_kind(error) == SERVER_LOST else None


def shared_servers(servers: Mapping[str, AnyServer], *, must_be_ours: bool) -> frozenset[str]:
    """Hosted servers that are not said to be ours alone. Where nobody said anything, `must_be_ours` decides."""
    return frozenset(
        name
        for name, server in servers.items()
        if isinstance(server, HttpServer) and (server.dedicated is False or (server.dedicated is None and must_be_ours))
    )


@contextlib.asynccontextmanager
async def fresh_session(name: str, server: AnyServer, around: Surroundings) -> AsyncGenerator[MCPToolset[Any]]:
    """A session for one attempt, begun now and closed at its end."""
    with client_of(name, server, around) as client:
        async with client:
            yield client


@contextlib.asynccontextmanager
async def live_tools(
    servers: Mapping[str, AnyServer], around: Surroundings, sessions: Sessions | None, *, must_be_ours: bool
) -> AsyncGenerator[LiveTools]:
    """Start or connect to every server of a scenario, and close or end them all at the end.

    Args:
        servers: as declared.
        around: what they are given.
        sessions: opens them; None begins every one anew.
        must_be_ours: a hosted server with tools that write is refused unless it is declared to be dedicated.
    """
    opened = fresh_session if sessions is None else sessions.open
    async with contextlib.AsyncExitStack() as stack:
        toolsets: dict[str, MCPToolset[Any]] = {}
        for name, server in servers.items():
            toolsets[name] = await stack.enter_async_context(opened(name, server, around))
        projections = {name: server.projection for name, server in servers.items()}
        yield LiveTools(toolsets, shared_servers(servers, must_be_ours=must_be_ours), projections)
