"""`passgrid gateway`: fakes, recordings and live servers at the wire, for any client in any language."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.json_values import is_object
from passgrid.problems import InvalidInput, Problem, Unreachable

if TYPE_CHECKING:
    import socket

    import sqlalchemy as sa

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH…", help="Files of fakes, or folders with such; watched for changes."),
]
Space = Annotated[str, typer.Option(help="Gateways of one space share loaded fakes, state, sessions and journal.")]
TestId = Annotated[str, typer.Argument(metavar="TEST_ID", help="The test, as its client named it.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Serve fakes, recordings, live servers and models at the wire.")
    group.command("serve", epilog="Example: passgrid gateway serve fakes/ --port 4010")(serve)
    group.command("stdio", epilog="Example: passgrid gateway stdio fakes/shop.json --test-id T1")(stdio)
    group.command("token", epilog="Example: passgrid gateway token T1")(token)
    group.command("report", epilog="Example: passgrid gateway report T1 --json")(report)
    group.command("journal", epilog="Example: passgrid gateway journal --test-id T1 --json")(journal)
    group.command("record", epilog="Example: passgrid gateway record T1 --suite demo --scenario count-stock")(record)
    app.add_typer(group, name="gateway")


def serve(
    paths: Paths = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than the loopback need tokens.")
    ] = "127.0.0.1",
    host_name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name clients may call it by, beside the loopback's.")
    ] = None,
    servers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Live servers behind the fakes: a file with mcpServers.")
    ] = None,
    recordings: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE/SCENARIO:LABEL", help="Recordings behind the fakes, of tools and model alike."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A live model behind the model APIs; requests are bought.")
    ] = None,
    cap: Annotated[int, typer.Option(min=0, help="Test ids with state on a mount; 0 is no limit.")] = 500,
    require_token: Annotated[bool, typer.Option("--require-token", help="Answer nobody without a token.")] = False,
    space: Space = "default",
) -> None:
    """Serve until Ctrl-C: MCP over Streamable HTTP, the model APIs below /v1, and the control API below /__aimock.

    The address is printed on stdout once it serves. Any number of processes may serve one space.
    """
    import uvloop

    from api.gateway.choosing import chosen
    from api.gateway.serving import serve as serve_until_stopped
    from api.stack.join import joined_stack
    from passgrid.log_lines import configure_logging

    if host not in {"127.0.0.1", "localhost", "::1"} and not require_token:
        raise InvalidInput(
            [Problem(f"--host {host}", "would answer other machines without a token", "--require-token")]
        )
    configure_logging()
    with joined_stack() as addresses, _listening(host, port) as listener:
        served = chosen(
            paths or [],
            space=space,
            servers=servers,
            recordings=recordings or [],
            model=model,
            cap=cap,
            token_required=require_token,
            host_names=host_name or [],
        )
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{listener.getsockname()[1]}", flush=True)
        uvloop.run(serve_until_stopped(served, addresses.database_url, addresses.psycopg_url, listener))


def stdio(
    paths: Paths = None,
    mount: Annotated[str, typer.Option(help="The mount this server is.")] = "/mcp",
    test_id: Annotated[str | None, typer.Option(metavar="ID", help="The test whose fakes answer.")] = None,
    context: Annotated[str | None, typer.Option(help="The context whose fakes answer.")] = None,
    undeclared: Annotated[
        str | None, typer.Option(metavar="allow|deny", help="How undeclared tools are treated.")
    ] = None,
    space: Annotated[
        str | None, typer.Option(help="Share state and journal with the gateways of a space; kept in memory without.")
    ] = None,
    report_file: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the report of the test at the end.")
    ] = None,
) -> None:
    """Be an MCP server of fakes for the one client that started this command.

    Exits with 1 where a call was refused or something declared for the test was never asked for.
    """
    import asyncio

    from api.gateway.stdio import StdioOptions, serve_stdio
    from passgrid.wire.mcp_service import Identity

    if undeclared not in {None, "allow", "deny"}:
        raise InvalidInput([Problem(f"--undeclared {undeclared}", "must be allow or deny")])
    options = StdioOptions(tuple(paths or ()), mount, Identity(test_id, context, undeclared), space)
    found = asyncio.run(serve_stdio(options))
    if report_file is not None:
        report_file.write_text(found.to_text())
    if not found.ok:
        print(found.why_not(), file=sys.stderr)
        raise SystemExit(1)


def token(
    test_id: Annotated[str | None, typer.Argument(metavar="TEST_ID", help="The only test it speaks for.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="It speaks for all tests, and may load.")] = False,
    space: Space = "default",
) -> None:
    """Make a token: it speaks for one test and reads no other, or for everything."""
    from api.gateway.tokens import make_token
    from passgrid.warehouse.gateway_loads import open_space

    if (test_id is None) != everything:
        raise InvalidInput([Problem("passgrid gateway token", "name a test, or --everything, and not both")])
    with _connected() as connection:
        print(make_token(open_space(connection, space), test_id))


def report(test_id: TestId, json: Json = False, space: Space = "default") -> None:
    """Say how a test went: what fakes served, what was never asked for, what was refused; exit 1 if it is not ok."""
    from api.gateway.reading import report_of_test

    with _connected() as connection:
        found = report_of_test(connection, space, test_id)
    if json:
        print_json(found.to_json())
    else:
        print("ok" if found.ok else found.why_not())
        print(f"{len(found.served)} served, {len(found.unconsumed)} never asked for, {len(found.unfaked)} not faked")
    if not found.ok:
        raise SystemExit(1)


def journal(
    test_id: Annotated[str | None, typer.Option(metavar="ID", help="Of this test only.")] = None,
    last: Annotated[int, typer.Option(min=1, max=1_000_000, help="At most so many messages.")] = 100,
    json: Json = False,
    space: Space = "default",
) -> None:
    """Show the last messages that came to the gateways of a space."""
    from dataclasses import asdict

    from rich.console import Console
    from rich.table import Table

    from passgrid.warehouse.gateway_loads import journal as read_journal

    with _connected() as connection:
        rows = read_journal(connection, space, test_id, last)
    if json:
        print_json([asdict(row) for row in rows])
        return
    table = Table("when", "test", "mount", "tool", "outcome", "entry")
    for row in rows:
        method: object = row.body.get("method", "") if is_object(row.body) else ""
        outcome = row.outcome or row.answered or ""
        table.add_row(row.at[11:23], row.test_id or "", row.mount, row.tool or str(method), outcome, row.entry_id or "")
    Console().print(table)


def record(
    test_id: TestId,
    suite: Annotated[str, typer.Option(metavar="SUITE", help="The suite the recording belongs to.")],
    scenario: Annotated[str, typer.Option(metavar="NAME", help="The scenario it is a recording of.")],
    label: Annotated[str, typer.Option(help="The label it is recorded under.")] = "gateway",
    prompt: Annotated[str | None, typer.Option(help="The prompt it was made with; the suite's when absent.")] = None,
    space: Space = "default",
) -> None:
    """Write the session of a test as a cassette: its calls, fakes included, and its model turns, in one file."""
    from api.gateway.reading import record_session

    with _connected() as connection:
        print(record_session(connection, space, test_id, suite, scenario, label, prompt))


def _listening(host: str, port: int) -> socket.socket:
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        remedy = "name another --port, or 0 for a free one"
        raise Unreachable(f"{host}:{port} cannot be listened on: {error.strerror} ({remedy})") from None
    # Head and body of a reply are two writes: without this the second would wait for the first one's acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


@contextmanager
def _connected() -> Generator[sa.Connection]:
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        with engine.connect() as connection:
            yield connection
        engine.dispose()
