"""`passgrid providers`: what providers allow, and how much of it is used."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import Json, print_json
from api.provider_watch import provider_file
from api.stack.join import joined_stack
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.provider_limits import ProviderUse, provider_use


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("providers", epilog="Example: passgrid providers --json")(providers)


def providers(json: Json = False) -> None:
    """Show limits of providers over all workers, what was learned of them, and what is under way.

    Limits stand in the providers file: PASSGRID_PROVIDERS, else providers.yaml in PASSGRID_HOME. It is applied as soon
    as it changes.
    """
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        with engine.connect() as connection:
            found = provider_use(connection)
    if json:
        print_json([one.to_json() for one in found])
        return
    file = provider_file()
    print(f"limits from {file}" if file and file.exists() else f"no providers file at {file}")
    if found:
        Console().print(_table(found))
    else:
        print("no provider was asked yet")


def _table(found: list[ProviderUse]) -> Table:
    table = Table()
    for column in ("provider", "at once", "under way", "a minute", "last minute", "waits"):
        table.add_column(column, justify="left" if column in {"provider", "waits"} else "right", overflow="fold")
    for one in found:
        most = "" if one.most is None else f" of {one.most}"
        table.add_row(
            one.key,
            f"{one.concurrency:.0f}{most}",
            str(one.under_way),
            "no limit" if one.requests_per_minute is None else str(one.requests_per_minute),
            str(one.requests),
            f"{one.blocked_s:.0f} s" if one.blocked_s > 0 else "",
        )
    return table
