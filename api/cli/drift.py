"""`passgrid drift`: how the servers of today differ from the recordings."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer
from rich.console import Console

from api.cli.failing import Stopped
from api.cli.options import Json, print_json
from passgrid.drift.report import DriftArm, drift_document, exit_code
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request

Many = list[str] | None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("drift", epilog="Example: passgrid drift --suite demo --model recorded:scripted-thorough")(drift)


def drift(
    runs: Annotated[Many, typer.Argument(metavar="[RUN…]", help="Runs of --mode drift, by id or label.")] = None,
    suite: Annotated[Many, typer.Option(help="Measure now: the suites whose recordings are compared.")] = None,
    model: Annotated[Many, typer.Option(help="Which recordings: recorded:LABEL.")] = None,
    target: Annotated[Many, typer.Option(help="Which servers, declared in suite.yaml; the scenarios' own.")] = None,
    prompt: Annotated[Many, typer.Option(help="Recorded under these prompts; the suite's default.")] = None,
    scenario: Annotated[Many, typer.Option(help="Only these scenarios.")] = None,
    k: Annotated[int, typer.Option("-k", help="Recordings of each scenario.")] = 1,
    label: Annotated[str | None, typer.Option(help="Of the run that is made; the time of day when absent.")] = None,
    json: Json = False,
) -> None:
    """Compare what servers list and answer now with what was recorded: of runs, or measured now.

    Exits with 3 when something an agent relied on is gone, renamed or of another type, else with 4 when coverage is
    below 95 %: nothing can be concluded then.
    """
    if bool(runs) == bool(suite):
        raise InvalidInput([Problem("RUN or --suite", "give runs to read, or suites to measure now, one of both")])
    request = Request(
        suites=tuple(suite or ()),
        models=tuple(model or ()),
        prompts=tuple(prompt or ()),
        scenarios=tuple(scenario or ()),
        targets=tuple(target or ()),
        k=k,
        mode="drift",
        label=label or f"drift {datetime.datetime.now().astimezone():%Y-%m-%d %H:%M:%S}",
    )
    arms = _of_runs(runs) if runs else _measured(request, quiet=json)
    if json:
        print_json(drift_document(arms))
    else:
        from api.cli.drift_table import print_drift

        print_drift(Console(), arms)
    if code := exit_code(arms):
        raise SystemExit(code)


def _of_runs(references: list[str]) -> list[DriftArm]:
    from api.reading import find_runs
    from api.stack.join import joined_stack
    from passgrid.warehouse.drift import read_drift
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        arms = read_drift(connection, find_runs(connection, references))
    others = sorted({arm.name.label for arm in arms if arm.name.mode != "drift"})
    if others:
        message = "asked no server and compared nothing"
        raise InvalidInput(Problem(f"RUN {one}", message, "submit it with --mode drift") for one in others)
    return arms


def _measured(request: Request, *, quiet: bool) -> list[DriftArm]:
    """Submit, wait, read. Raises `Stopped` where nobody waited for the end."""
    from api.cli.waiting import wait_for
    from api.stack.join import joined_stack
    from api.submission import plan_request
    from passgrid.warehouse.drift import read_drift
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.submission import submit

    plan = plan_request(request)
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        submitted = submit(engine, plan)
        if not wait_for(engine, submitted.run_id, quiet=quiet):
            raise Stopped(f"not measured to the end; read it later: passgrid drift {submitted.run_id[:12]}")
        with engine.connect() as connection:
            return read_drift(connection, [submitted.run_id])
