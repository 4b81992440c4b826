"""`passgrid agreement`: checks and judge beside the labels of people."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import Json, RunName, print_json
from passgrid.report.agreement import Agreement, read_labels
from passgrid.report.agreement import agreement as beside


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("agreement", epilog="Example: passgrid agreement nightly-2026-11-30 --labels labels.csv")(agreement)


def agreement(
    run: RunName,
    labels: Annotated[Path, typer.Option(help="CSV of people's verdicts: scenario,sample,passed.")],
    json: Json = False,
) -> None:
    """Say how far the checks, and the judge where there is one, agree with people: Cohen's kappa with its interval."""
    from api.reading import find_runs
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.opinions import opinions

    known = read_labels(labels)
    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        run_id = find_runs(connection, [run])[0]
        found = [beside(rater, verdicts, known) for rater, verdicts in opinions(connection, run_id).items()]
    if json:
        print_json({"run": run_id, "labels": len(known), "raters": [asdict(one) for one in found]})
        return
    _tell(found)


def _tell(found: list[Agreement]) -> None:
    table = Table()
    table.add_column("rater")
    for column in ("n", "agree", "kappa", "95 %", "both pass", "both fail", "only rater", "only people", "unrated"):
        table.add_column(column, justify="right")
    for one in found:
        kappa = one.kappa
        interval = "N/A" if kappa.low is None else f"{kappa.low:.2f} to {kappa.high:.2f}"
        numbers = (one.both_pass, one.both_fail, one.only_rater_passes, one.only_people_pass, one.unrated)
        table.add_row(
            one.rater,
            str(kappa.n),
            "N/A" if kappa.agreement is None else f"{kappa.agreement:.0%}",
            "N/A" if kappa.value is None else f"{kappa.value:.2f}",
            interval,
            *map(str, numbers),
        )
    Console().print(table)
