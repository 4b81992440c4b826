"""`passgrid watch`, `cancel` and `resume`: a run that was submitted."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa
import typer

from api.cli.options import DryRun, Json, RunName, print_json
from api.cli.waiting import wait_for
from api.reading import find_runs
from api.stack.join import joined_stack
from passgrid.warehouse import control
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.summary import run_summary


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("watch", epilog="Example: passgrid watch 3f2a91c0")(watch)
    app.command("cancel", epilog="Example: passgrid cancel nightly --dry-run")(cancel)
    app.command("resume", epilog="Example: passgrid resume nightly")(resume)


def watch(run: RunName, json: Json = False) -> None:
    """Show the progress of a run until it is done. Exits like `submit-matrix --wait`."""
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        run_id = _find(engine, run)
        finished = wait_for(engine, run_id, quiet=json)
        with engine.connect() as connection:
            summary = run_summary(connection, run_id)
    if json:
        print_json(summary.to_json(new_attempts=0))
    else:
        print(f"run {run_id}: {summary.state}, {summary.valid} of {summary.wanted} valid, {summary.passed} passed")
    if finished:
        raise SystemExit(summary.exit_code)


def cancel(run: RunName, dry_run: DryRun = False, json: Json = False) -> None:
    """Take what is queued out of the queue; attempts that run now end by themselves."""
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        done = control.cancel(engine, _find(engine, run), dry_run=dry_run)
    _tell(done, "would be cancelled" if dry_run else "cancelled", json)


def resume(run: RunName, dry_run: DryRun = False, json: Json = False) -> None:
    """Queue again what was cancelled or ended in an infrastructure error; verdicts stay."""
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        done = control.resume(engine, _find(engine, run), dry_run=dry_run)
    _tell(done, "would be queued again" if dry_run else "queued again", json)


def _find(engine: sa.Engine, run: str) -> str:
    with engine.connect() as connection:
        return find_runs(connection, [run])[0]


def _tell(done: control.Controlled, what: str, json: bool) -> None:
    if json:
        print_json(asdict(done))
    else:
        print(f"run {done.run_id}: {done.attempts} attempts {what}; {done.running} run now")
