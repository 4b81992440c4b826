"""`passgrid record`: a recorder that any MCP client can be pointed at instead of its server."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from passgrid.problems import InvalidInput, Problem, Unreachable

app = typer.Typer(no_args_is_help=True, help="Record the sessions of any MCP client with any MCP server.")

DEFAULT_OUT = Path("session.tape.jsonl")
Out = Annotated[Path, typer.Option(metavar="FILE", help="The tape to write; refused where it is there already.")]


def register(to: typer.Typer) -> None:
    """Add the commands."""
    to.add_typer(app, name="record")


@app.command(
    "stdio",
    epilog="Example: passgrid record stdio --out git.tape.jsonl -- mcp-server-git",
    context_settings={"allow_interspersed_args": False},
)
def record_stdio(
    command: Annotated[list[str], typer.Argument(metavar="COMMAND ARGS…", help="The server and its arguments.")],
    out: Out = DEFAULT_OUT,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Pass this variable of the environment on to the server; may be repeated."),
    ] = None,
) -> None:
    """Be an MCP stdio server: start COMMAND, pass everything on unchanged, and write the tape.

    The server gets a small environment (PATH, HOME, the language and time zone) and what --env names.
    """
    from passgrid.server_environment import server_environment
    from passgrid.tapes.stdio_proxy import proxy_stdio

    names = env or []
    if missing := [
        Problem(f"--env {name}", "is not set in the environment") for name in names if name not in os.environ
    ]:
        raise InvalidInput(missing)
    raise SystemExit(proxy_stdio(command, server_environment({name: os.environ[name] for name in names}), out))


@app.command("http", epilog="Example: passgrid record http http://127.0.0.1:3001/mcp --out example.tape.jsonl")
def record_http(
    url: Annotated[str, typer.Argument(help="The server's address; Streamable HTTP.")],
    out: Out = DEFAULT_OUT,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
) -> None:
    """Be an MCP server on this machine's loopback: pass everything on to URL unchanged, and write the tapes.

    One file a session: FILE, then FILE with -2, and so on. Ends with Ctrl-C.
    """
    import uvicorn

    from api.recording_proxy import PATH, RecordingProxy, upstream_of
    from passgrid.tapes.session_files import SessionFiles

    upstream = upstream_of(url)
    files = SessionFiles(out, {"transport": "http", "url": upstream.shown})
    with _listening(port) as listener:
        files.open_first()
        here = f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
        print(f"recording {upstream.shown} at {here} into {out}", file=sys.stderr, flush=True)
        config = uvicorn.Config(
            RecordingProxy(upstream, files).app(), log_level="warning", server_header=False, timeout_graceful_shutdown=2
        )
        # The server of HTTP passes a signal on when it has ended: the tapes are still open then.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _stay)
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            files.close()
    print("\n".join(f"wrote {path}" for path in files.paths), file=sys.stderr)


def _stay(number: int, frame: object) -> None:
    """Nothing: the server of HTTP has its own handlers while it runs."""


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        remedy = "name another --port, or 0 for a free one"
        raise Unreachable(f"127.0.0.1:{port} cannot be listened on: {error.strerror} ({remedy})") from None
