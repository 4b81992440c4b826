"""`passgrid login`: let workers use hosted servers that want OAuth."""

from __future__ import annotations

import asyncio
import sys
import webbrowser
from typing import TYPE_CHECKING, Annotated, cast
from urllib.parse import parse_qs, urlsplit

import typer

from api.cli.failing import Stopped
from passgrid.problems import InvalidInput, Problem
from passgrid.server import HttpServer

if TYPE_CHECKING:
    from mcp.shared.auth import AuthorizationCodeResult

WAIT_SECONDS = 300
DONE = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nLogged in. You may close this page.\n"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("login", epilog="Example: passgrid login scenarios/demo --target hosted --no-browser")(login)


def login(
    suite: Annotated[str, typer.Argument(help="A folder of scenarios, or a suite of the library by name.")],
    target: Annotated[str, typer.Option(help="Whose servers to log in to.")],
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address to open.")] = False,
) -> None:
    """Log in to the hosted servers of a target. Tokens are kept in PASSGRID_HOME, readable by you alone.

    Workers use and renew them. They need the same PASSGRID_HOME.
    """
    for name, server in _servers(suite, target).items():
        try:
            asyncio.run(_log_in(name, server, open_browser=not no_browser))
        except Exception as error:
            raise Stopped(f"{name}: not logged in to {server.url}: {_first(error)}") from error
        print(f"{name}: logged in to {server.url}")


def _servers(reference: str, target: str) -> dict[str, HttpServer]:
    from api.submission import library_folder
    from passgrid.library import find_suite, load_suite

    suite = load_suite(find_suite(reference, library_folder()))
    if target not in suite.facts.targets:
        there = ", ".join(sorted(suite.facts.targets)) or "none"
        raise InvalidInput(
            [Problem(f"--target {target}", f"suite {suite.name} has no such target; there are: {there}")]
        )
    servers = suite.facts.targets[target].mcp_servers
    found = {name: one for name, one in servers.items() if isinstance(one, HttpServer) and one.oauth is not None}
    found = {name: one for name, one in found.items() if one.oauth is not None and one.oauth.client_secret is None}
    if not found:
        message = "none of its servers wants a person to log in"
        raise InvalidInput(
            [Problem(f"--target {target}", message, "declare `oauth: {}` beside the url of one that does")]
        )
    return found


async def _log_in(name: str, server: HttpServer, *, open_browser: bool) -> None:
    from passgrid.tools.oauth import log_in

    arrived: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode(errors="replace").split(" ")
        writer.write(DONE)
        await writer.drain()
        writer.close()
        if len(line) > 1 and line[1].startswith("/callback") and not arrived.done():
            arrived.set_result(line[1])

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]

        async def redirect(url: str) -> None:
            print(f"{name}: open this address to log in:\n  {url}", file=sys.stderr, flush=True)
            if open_browser:
                webbrowser.open(url)

        async def callback() -> AuthorizationCodeResult:
            return _result(await asyncio.wait_for(arrived, WAIT_SECONDS))

        await log_in(server, f"http://127.0.0.1:{port}/callback", redirect, callback)


def _result(path: str) -> AuthorizationCodeResult:
    """What came back from the authorization server. Raises `PermissionError` where it refused."""
    # Takes a second to import: only where it is needed.
    from mcp.shared.auth import AuthorizationCodeResult

    query = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
    if "code" not in query:
        raise PermissionError(query.get("error_description") or query.get("error") or "no code came back")
    return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return str(error) or type(error).__name__
