"""Live servers of a file with `mcpServers`, each behind a mount."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from pydantic import BaseModel, ConfigDict, Field

from api.gateway.live_servers import LiveServer
from passgrid.problems import Problem
from passgrid.server import HttpServer, StdioServer
from passgrid.server_environment import server_environment
from passgrid.tools.declared import filled
from passgrid.yaml_files import read_yaml, validated


class _Declared(BaseModel):
    model_config = ConfigDict(extra="ignore")

    mcp_servers: dict[str, StdioServer | HttpServer] = Field(alias="mcpServers")


def live_servers(path: Path, problems: list[Problem]) -> dict[str, LiveServer]:
    """The servers of a file by mount: `/mcp` where there is one alone, else `/<name>`."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), f"cannot be read: {error}"))
        return {}
    value, found = read_yaml(path, text)
    problems += found
    declared, found = validated(_Declared, value, path, text) if value is not None else (None, [])
    problems += found
    if declared is None:
        return {}
    alone = len(declared.mcp_servers) == 1
    return {
        "/mcp" if alone else f"/{name}": LiveServer(name, lambda server=server: _client(server))
        for name, server in declared.mcp_servers.items()
    }


def _client(server: StdioServer | HttpServer) -> Client:
    if isinstance(server, HttpServer):
        return Client(_hosted(server))
    env = server_environment({name: filled(value, {}) for name, value in server.env.items()})
    return Client(StdioServerParameters(command=server.command, args=[filled(arg, {}) for arg in server.args], env=env))


def _hosted(server: HttpServer) -> Any:
    headers = {name: filled(value, {}) for name, value in server.headers.items()}
    if not headers:
        return server.url
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # No redirect is followed: headers with secrets go to the place that was named and to no other.
    client = httpx2.AsyncClient(headers=headers, follow_redirects=False, timeout=httpx2.Timeout(30, read=300))
    return streamable_http_client(server.url, http_client=client)
