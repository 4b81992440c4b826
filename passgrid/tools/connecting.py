"""A client for one server, however it is constructed: a command, a hosted server, or one made in this process."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import IO, Any, TextIO, cast
from weakref import WeakKeyDictionary

from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

from passgrid.redaction import Redactor
from passgrid.server import AnyServer, BuiltinServer, FakedServer, HttpServer, InProcessServer, StdioServer
from passgrid.server_environment import server_environment
from passgrid.suite_code import BrokenSuiteCode, SuiteCode
from passgrid.tools.declared import PRIVATE, filled, uses
from passgrid.tools.sessions import Surroundings
from passgrid.workspaces.file_server import file_server
from passgrid.workspaces.memory_files import MemoryFiles

log = logging.getLogger(__name__)

LOGGED_BYTES = 8_000
"""The end of what a server wrote to stderr."""

INIT_SECONDS = 60.0
"""How long a server may take to start: several that import much start at once."""

Places = Mapping[str, Path | None]


@contextlib.contextmanager
def client_of(name: str, server: AnyServer, around: Surroundings) -> Generator[MCPToolset[Any]]:
    """A client that is not connected yet, and what its server needs; taken away at the end.

    What a server writes to stderr is logged then, without its secrets.

    Raises:
        BrokenSuiteCode: the suite's function makes no server.
        NotLoggedIn: nobody logged in to a hosted server.
    """
    if isinstance(server, HttpServer):
        yield _hosted(name, server, around.places)
    elif isinstance(server, InProcessServer):
        yield _toolset(name, _made(server, around.code))
    elif isinstance(server, BuiltinServer):
        yield _toolset(name, file_server(around.memory if around.memory is not None else MemoryFiles()))
    elif isinstance(server, FakedServer):
        raise BrokenSuiteCode(f"server {name} is faked: there is nothing to ask but its fakes")
    else:
        with contextlib.ExitStack() as stack:
            said = stack.enter_context(_logged(name, around.redactor))
            places = around.places
            private: Path | None = None
            if uses(server, PRIVATE):
                folder = tempfile.TemporaryDirectory(prefix="passgrid-server-", ignore_cleanup_errors=True)
                private = Path(stack.enter_context(folder)).resolve()
                places = {**places, PRIVATE: private}
            client = _toolset(name, _command(server, places, said))
            if private is not None:
                _PRIVATE_FOLDERS[client] = private
            yield client


_PRIVATE_FOLDERS: WeakKeyDictionary[MCPToolset[Any], Path] = WeakKeyDictionary()


def private_folder(client: MCPToolset[Any]) -> Path | None:
    """The folder of a client's server; None where it has none."""
    return _PRIVATE_FOLDERS.get(client)


def _toolset(name: str, source: Any, **options: Any) -> MCPToolset[Any]:
    return MCPToolset(source, id=name, tool_error_behavior="failed", init_timeout=INIT_SECONDS, **options)


def _hosted(name: str, server: HttpServer, places: Places) -> MCPToolset[Any]:
    headers = {key: filled(value, places) for key, value in server.headers.items()}
    if server.oauth is None:
        return _toolset(name, server.url, headers=headers or None)
    from passgrid.tools.oauth import worker_access

    return _toolset(name, server.url, headers=headers or None, auth=worker_access(server))


def _made(server: InProcessServer, code: SuiteCode) -> Any:
    """A server object of the suite's own making. Raises `BrokenSuiteCode`."""
    make = code.function(server.python)
    try:
        made = make()
    except Exception as error:
        raise BrokenSuiteCode(f"{server.python} made no server: {type(error).__name__}: {error}") from error
    if not (hasattr(made, "_lowlevel_server") or hasattr(made, "_mcp_server")):
        raise BrokenSuiteCode(f"{server.python} returned a {type(made).__name__}; return an MCPServer or a FastMCP")
    return made


def _command(server: StdioServer, places: Places, said: IO[str]) -> StdioTransport:
    workspace = places.get("workspace")
    return StdioTransport(
        log_file=cast(TextIO, said),
        command=sys.executable if server.command == "python" else server.command,
        args=[filled(arg, places) for arg in server.args],
        env=server_environment({key: filled(value, places) for key, value in server.env.items()}),
        cwd=str(workspace) if workspace else None,
        keep_alive=False,
    )


@contextlib.contextmanager
def _logged(server: str, redactor: Redactor) -> Generator[IO[str]]:
    """A file for what a server writes to stderr; its end is logged."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        yield said
        said.seek(max(0, said.seek(0, os.SEEK_END) - LOGGED_BYTES))
        for line in filter(None, map(str.rstrip, said)):
            log.info("server %s: %s", server, redactor.text(line))
