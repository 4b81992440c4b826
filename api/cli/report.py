"""`passgrid report`: what runs say, as a table with curves, or as JSON."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from api.cli.options import Json, print_json, refuse
from passgrid.problems import InvalidInput, Problem

FORMATS = ("table", "json")
LATER_FORMATS = ("markdown", "junit", "html")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("report", epilog="Example: passgrid report airline-main airline-candidate --json")(report)


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Starts of run ids, or labels.")],
    baseline: Annotated[str | None, typer.Option(help="The run to compare with.")] = None,
    gate: Annotated[str | None, typer.Option(help="When to fail.")] = None,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "table",
    json: Json = False,
) -> None:
    """Show every arm of runs with n, coverage, pass@k and pass^k with intervals, and why attempts failed.

    Exits with 4 when an arm's coverage is below 95 %: nothing can be concluded then.
    """
    refuse([("--baseline", baseline), ("--gate", gate), (f"--format {format}", format in LATER_FORMATS)])
    if format not in FORMATS:
        raise InvalidInput([Problem(f"--format {format}", f"no such format; there are: {', '.join(FORMATS)}")])
    from api.cli.report_table import print_report
    from api.reading import read_report
    from api.stack.join import joined_stack
    from passgrid.report.document import report_document
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        found, arms = read_report(connection, runs)
    if json or format == "json":
        print_json(report_document(found, arms))
    else:
        print_report(Console(), arms)
    if not all(arm.coverage.enough for arm in arms):
        raise SystemExit(4)
