"""Clients of MCP that others wrote, each behind the same few questions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx2
from fastmcp import Client as FastMcpClient
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

SCRIPT = Path(__file__).with_name("gateway_client.mjs")
REMEDY = "npm i --prefix servers @modelcontextprotocol/sdk; export PASSGRID_MCP_SERVERS=$PWD/servers/node_modules/.bin"


class ClientMissing(Exception):
    """A client is not installed; the message holds the command that brings it."""


class NotSpoken(Exception):
    """The version of the protocol that is spoken has no such request."""


class Refused(Exception):
    """A request was answered with an error of JSON-RPC."""

    def __init__(self, code: int, data: Any) -> None:
        super().__init__(f"{code}: {data}")
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client made of the result of a tool."""

    text: str | None
    """None where the client shows only the structured content."""
    structured: Any = None
    failed: bool = False


class Connection(Protocol):
    """An open client. What a server refuses is raised as `Refused`."""

    async def version(self) -> str: ...

    async def tools(self) -> list[str]: ...

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer: ...

    async def resources(self) -> list[str]: ...

    async def read(self, uri: str) -> str: ...

    async def prompts(self) -> list[str]: ...

    async def prompt(self, name: str, arguments: dict[str, str]) -> str: ...

    async def ping(self) -> None: ...


Connect = Callable[[str, Mapping[str, str]], AbstractAsyncContextManager[Connection]]
"""From an address and headers to an open client. Raises `ClientMissing`."""


@contextlib.contextmanager
def _refusals():
    try:
        yield
    except MCPError as error:
        raise Refused(error.code, error.data) from error


class _Official:
    """The official Python client; the questions of fastmcp's are the same in other words."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def version(self) -> str:
        return self._client.protocol_version

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        with _refusals():
            return _answer(await self._client.call_tool(tool, arguments))

    async def resources(self) -> list[str]:
        return [resource.uri for resource in (await self._client.list_resources()).resources]

    async def read(self, uri: str) -> str:
        return _text((await self._client.read_resource(uri)).contents[0])

    async def prompts(self) -> list[str]:
        return [prompt.name for prompt in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return _text((await self._client.get_prompt(name, arguments)).messages[0].content)

    async def ping(self) -> None:
        if await self.version() >= "2026":
            raise NotSpoken("2026-07-28 has no ping")
        await self._client.session.send_ping()


def official(mode: str) -> Connect:
    """The client of the `mcp` package."""

    @contextlib.asynccontextmanager
    async def connect(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Connection]:
        async with (
            httpx2.AsyncClient(headers=dict(headers), timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=30) as client,
        ):
            yield _Official(client)

    return connect


class _FastMcp:
    def __init__(self, client: FastMcpClient[Any]) -> None:
        self._client = client

    async def version(self) -> str:
        return self._client.protocol_version or ""

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._client.list_tools()]

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        with _refusals():
            return _answer(await self._client.call_tool_mcp(tool, arguments))

    async def resources(self) -> list[str]:
        return [str(resource.uri) for resource in await self._client.list_resources()]

    async def read(self, uri: str) -> str:
        return _text((await self._client.read_resource(uri))[0])

    async def prompts(self) -> list[str]:
        return [prompt.name for prompt in await self._client.list_prompts()]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return _text((await self._client.get_prompt(name, arguments)).messages[0].content)

    async def ping(self) -> None:
        if await self.version() >= "2026":
            raise NotSpoken("2026-07-28 has no ping")
        assert await self._client.ping()


def fastmcp(mode: Any) -> Connect:
    """The client of `fastmcp`."""

    @contextlib.asynccontextmanager
    async def connect(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Connection]:
        transport = StreamableHttpTransport(url, headers=dict(headers))
        async with FastMcpClient(transport, mode=mode, timeout=30) as client:
            yield _FastMcp(client)

    return connect


class _PydanticAi:
    """An agent of pydantic-ai whose model makes the one call that is asked for."""

    def __init__(self, toolset: MCPToolset[None]) -> None:
        self._toolset = toolset

    async def version(self) -> str:
        return self._toolset.client.protocol_version or ""

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self._toolset.list_tools()]

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
            asked = len(messages) == 1
            return ModelResponse([ToolCallPart(tool, arguments) if asked else TextPart("done")])

        agent = Agent(FunctionModel(model), deps_type=type(None), toolsets=[self._toolset])
        with _refusals():
            try:
                messages = (await agent.run("Call the tool.")).all_messages()
            except ToolError as error:
                return Answer(str(error), failed=True)
        returned = next(part for one in messages for part in one.parts if isinstance(part, ToolReturnPart))
        content: Any = returned.content
        return Answer(content) if isinstance(content, str) else Answer(None, content)

    async def resources(self) -> list[str]:
        return [resource.uri for resource in await self._toolset.list_resources()]

    async def read(self, uri: str) -> str:
        return str(await self._toolset.read_resource(uri))

    async def prompts(self) -> list[str]:
        return [prompt.name for prompt in await self._toolset.list_prompts()]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return str((await self._toolset.get_prompt(name, arguments)).messages[0].content)

    async def ping(self) -> None:
        await _FastMcp(self._toolset.client).ping()


@contextlib.asynccontextmanager
async def pydantic_ai(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Connection]:
    """The toolset of `pydantic-ai`, in an agent."""
    async with MCPToolset[None](url, headers=dict(headers), tool_error_behavior="error") as toolset:
        yield _PydanticAi(toolset)


class _Script:
    """The official client for JavaScript, in a program of its own: a line asks, a line answers."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    async def _ask(self, method: str, *arguments: Any) -> Any:
        self._stdin.write(json.dumps([method, *arguments]).encode() + b"\n")
        line = await asyncio.wait_for(self._stdout.readline(), 30)
        said = json.loads(line)
        if "code" in said:
            raise Refused(said["code"], said.get("data"))
        assert "failed" not in said, said["failed"]
        return said.get("result")

    async def version(self) -> str:
        return await self._ask("version")

    async def tools(self) -> list[str]:
        return [tool["name"] for tool in (await self._ask("listTools"))["tools"]]

    async def call(self, tool: str, arguments: dict[str, Any]) -> Answer:
        result = await self._ask("callTool", {"name": tool, "arguments": arguments})
        return Answer(result["content"][0]["text"], result.get("structuredContent"), bool(result.get("isError")))

    async def resources(self) -> list[str]:
        return [resource["uri"] for resource in (await self._ask("listResources"))["resources"]]

    async def read(self, uri: str) -> str:
        return (await self._ask("readResource", {"uri": uri}))["contents"][0]["text"]

    async def prompts(self) -> list[str]:
        return [prompt["name"] for prompt in (await self._ask("listPrompts"))["prompts"]]

    async def prompt(self, name: str, arguments: dict[str, str]) -> str:
        return (await self._ask("getPrompt", {"name": name, "arguments": arguments}))["messages"][0]["content"]["text"]

    async def ping(self) -> None:
        if await self.version() >= "2026":
            raise NotSpoken("2026-07-28 has no ping")
        await self._ask("ping")


def javascript(package: str, mode: str) -> Connect:
    """The client of a npm package of the MCP project: `sdk`, or its successor `client`."""

    @contextlib.asynccontextmanager
    async def connect(url: str, headers: Mapping[str, str]) -> AsyncGenerator[Connection]:
        command = [node(), str(SCRIPT), str(packages(package)), package, mode, url, json.dumps(dict(headers))]
        process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            yield _Script(process)
            assert process.stdin is not None
            process.stdin.close()
            assert await asyncio.wait_for(process.wait(), 30) == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    return connect


def node() -> str:
    """The program that runs JavaScript. Raises `ClientMissing`."""
    found = shutil.which("node")
    if found is None:
        raise ClientMissing("node is not installed: apt-get install nodejs")
    return found


def packages(package: str) -> Path:
    """The folder of npm packages that has this one. Raises `ClientMissing`."""
    for place in os.environ.get("PASSGRID_MCP_SERVERS", "").split(os.pathsep):
        folder = Path(place).parent
        if place and (folder / "@modelcontextprotocol" / package / "package.json").is_file():
            return folder
    raise ClientMissing(f"@modelcontextprotocol/{package} is not installed: {REMEDY.format(package)}")


def _answer(result: Any) -> Answer:
    return Answer(_text(result.content[0]), result.structured_content, bool(result.is_error))


def _text(content: Any) -> str:
    text = content.text
    assert isinstance(text, str)
    return text


CLIENTS: Mapping[str, tuple[Connect, str]] = {
    "mcp, auto": (official("auto"), "2026-07-28"),
    "mcp, legacy": (official("legacy"), "2025-11-25"),
    "mcp, 2026-07-28": (official("2026-07-28"), "2026-07-28"),
    "fastmcp, auto": (fastmcp("auto"), "2026-07-28"),
    "fastmcp, legacy": (fastmcp("legacy"), "2025-11-25"),
    "pydantic-ai": (pydantic_ai, "2026-07-28"),
    "npm sdk": (javascript("sdk", "legacy"), "2025-11-25"),
    "npm client, legacy": (javascript("client", "legacy"), "2025-11-25"),
    "npm client, auto": (javascript("client", "auto"), "2026-07-28"),
}
"""Every client, and the version it comes to speak with the gateway."""
