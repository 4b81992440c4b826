"""`passgrid watch`, `cancel`, `pause`, `resume`, `retry` and `tune`: a run that was submitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import sqlalchemy as sa
import typer

from api.cli.options import DryRun, Json, RunName, print_json
from api.cli.waiting import wait_for
from api.reading import find_runs
from api.stack.join import joined_stack
from passgrid.problems import InvalidInput, Problem
from passgrid.warehouse import control
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.summary import run_summary


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("watch", epilog="Example: passgrid watch 3f2a91c0")(watch)
    app.command("cancel", epilog="Example: passgrid cancel nightly --dry-run")(cancel)
    app.command("pause", epilog="Example: passgrid pause nightly")(pause)
    app.command("resume", epilog="Example: passgrid resume nightly --budget 5.00")(resume)
    app.command("retry", epilog="Example: passgrid retry nightly --dry-run")(retry)
    app.command("tune", epilog="Example: passgrid tune nightly --priority 10")(tune)


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
        if summary.stop_reason:
            print(f"  {summary.stop_reason}")
    if finished:
        raise SystemExit(summary.exit_code)


def cancel(run: RunName, dry_run: DryRun = False, json: Json = False) -> None:
    """Take what is queued out of the queue; attempts that run end before their next model or tool call."""
    _control(run, "cancelled", dry_run, json, lambda engine, run_id: control.cancel(engine, run_id, dry_run=dry_run))


def pause(run: RunName, dry_run: DryRun = False, json: Json = False) -> None:
    """Hold what is queued; attempts that run go on to their end. `passgrid resume` goes on."""
    _control(run, "held", dry_run, json, lambda engine, run_id: control.pause(engine, run_id, dry_run=dry_run))


Budget = Annotated[float | None, typer.Option(help="US dollars the run may spend in all, what is spent included.")]
MaxTries = Annotated[int | None, typer.Option(help="Tries of an attempt for errors that may pass.")]


def resume(
    run: RunName,
    budget: Budget = None,
    max_tries: MaxTries = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Queue again what was held or cancelled, or ended in an infrastructure error; verdicts stay."""
    tuning = _tuning(None, max_tries, budget)
    _control(
        run,
        "queued again",
        dry_run,
        json,
        lambda engine, run_id: control.resume(engine, run_id, tuning, dry_run=dry_run),
    )


def retry(run: RunName, dry_run: DryRun = False, json: Json = False) -> None:
    """Queue again only what ended in an infrastructure error."""
    _control(run, "queued again", dry_run, json, lambda engine, run_id: control.retry(engine, run_id, dry_run=dry_run))


def tune(
    run: RunName,
    priority: Annotated[int | None, typer.Option(help="Larger goes first.")] = None,
    max_tries: MaxTries = None,
    budget: Budget = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Change a run while it runs."""
    if priority is None and max_tries is None and budget is None:
        raise InvalidInput([Problem("passgrid tune", "nothing to change", "give --priority, --max-tries or --budget")])
    tuning = _tuning(priority, max_tries, budget)
    _control(run, "tuned", dry_run, json, lambda engine, run_id: control.tune(engine, run_id, tuning, dry_run=dry_run))


def _tuning(priority: int | None, max_tries: int | None, budget: float | None) -> control.Tuning:
    problems: list[Problem] = []
    if max_tries is not None and max_tries < 1:
        problems.append(Problem(f"--max-tries {max_tries}", "must be at least 1", "`passgrid pause` holds a run"))
    if budget is not None and not 0 < budget < float("inf"):
        problems.append(Problem(f"--budget {budget}", "must be more than 0 US dollars"))
    if problems:
        raise InvalidInput(problems)
    return control.Tuning(priority, max_tries, budget)


def _control(
    run: str, what: str, dry_run: bool, json: bool, act: Callable[[sa.Engine, str], control.Controlled]
) -> None:
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        done = act(engine, _find(engine, run))
    _tell(done, f"would be {what}" if dry_run else what, json)


def _find(engine: sa.Engine, run: str) -> str:
    with engine.connect() as connection:
        return find_runs(connection, [run])[0]


def _tell(done: control.Controlled, what: str, json: bool) -> None:
    if json:
        print_json(asdict(done))
    else:
        print(f"run {done.run_id}: {done.attempts} attempts {what}; {done.running} run now")
