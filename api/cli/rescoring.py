"""`passgrid rescore`: judge a finished run again, after its checks changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import DryRun, Json, RunName, print_json

if TYPE_CHECKING:
    # Judging brings the agent library in: only where a run is judged.
    from api.rescoring import Rescoring

SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rescore", epilog="Example: passgrid rescore nightly-2026-11-30 --dry-run")(rescore)


def rescore(
    run: RunName,
    suite: Annotated[
        list[str] | None, typer.Option(help="Folders to judge by, instead of those it was submitted with.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Judge a run again by its suites' checks, stages and detectors as they are now.

    No model and no tool is called: verdicts rest on what was stored. Old verdicts are kept. Whatever decides how
    attempts go must be as it was.
    """
    from api.reading import find_runs
    from api.rescoring import rescore as judge_again
    from api.stack.join import joined_stack
    from api.submission import library_folder
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        with engine.connect() as connection:
            run_id = find_runs(connection, [run])[0]
        found = judge_again(engine, run_id, library_folder(), suite or (), dry_run=dry_run)
    if json:
        print_json(found.to_json())
        return
    _tell(found, dry_run)


def _tell(found: Rescoring, dry_run: bool) -> None:
    what = "would pass" if dry_run else "pass"
    counts = f"{found.passed_before} passed, {found.passed} {what}"
    print(f"run {found.run[:12]}: {found.attempts} attempts judged again; {counts}")
    if found.turned:
        table = Table()
        for column in ("scenario", "sample", "was", "is", "why"):
            table.add_column(column, overflow="fold")
        for one in found.turned[:SHOWN]:
            table.add_row(one.scenario, str(one.sample), one.before, one.after, one.reason[:80])
        Console().print(table)
    if len(found.turned) > SHOWN:
        print(f"and {len(found.turned) - SHOWN} more: --json")
    if dry_run:
        print("nothing was written")
