"""`passgrid prune`: delete runs nobody needs any more, and what only they referred to."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.options import DryRun, Json, print_json
from passgrid.problems import InvalidInput, Problem

if TYPE_CHECKING:
    import sqlalchemy as sa

    from passgrid.warehouse.blob_sweep import Swept
    from passgrid.warehouse.pruning import Candidate, PrunedRuns

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}

Runs = Annotated[
    list[str] | None, typer.Argument(metavar="[RUN]…", help="The start of a run's id, or its label (the newest such).")
]
OlderThan = Annotated[str | None, typer.Option(help="Runs that ended before so long ago: 12h, 30d or 8w.")]
KeepLast = Annotated[int | None, typer.Option(min=0, help="All but the newest so many, active ones counted.")]
Label = Annotated[str | None, typer.Option(help="Only runs with this label; * stands for anything.")]
Force = Annotated[bool, typer.Option("--force", help="Also runs that are active, where they are named.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("prune", epilog="Example: passgrid prune --older-than 30d --label 'nightly-*' --dry-run")(prune)


def prune(
    runs: Runs = None,
    older_than: OlderThan = None,
    keep_last: KeepLast = None,
    label: Label = None,
    force: Force = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Delete runs with all their rows, then recordings and files that nothing refers to any more.

    Name runs, or choose them by age, number and label. Active runs are never chosen. The next export drops them too.
    """
    from api.stack.join import joined_stack
    from passgrid.warehouse.blob_sweep import sweep_blobs, would_sweep
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.pruning import PrunedRuns, prune_runs, unfinished_prunes

    age = _check(runs or [], older_than, keep_last, label, force)
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        chosen = _chosen(engine, runs or [], age, keep_last, label, force)
        with engine.connect() as connection:
            begun = unfinished_prunes(connection)
        ids = list(dict.fromkeys([*begun, *(one.run_id for one in chosen)]))
        if dry_run:
            with engine.connect() as connection:
                swept = would_sweep(connection, ids)
            pruned = PrunedRuns(len(ids), sum(one.attempts for one in chosen), ())
        else:
            pruned = prune_runs(engine, ids, force=force)
            swept = sweep_blobs(engine)
        engine.dispose()
    _tell(chosen, pruned, swept, dry_run, json)


def _check(
    runs: list[str], older_than: str | None, keep_last: int | None, label: str | None, force: bool
) -> timedelta | None:
    """The age that was asked for. Raises `InvalidInput` for a choice that says nothing or too much."""
    problems: list[Problem] = []
    age: timedelta | None = None
    if older_than is not None:
        found = re.fullmatch(r"([1-9]\d{0,5})([hdw])", older_than)
        if found is None:
            problems.append(Problem(f"--older-than {older_than}", "is no length of time", "write 12h, 30d or 8w"))
        else:
            age = int(found[1]) * _UNITS[found[2]]
    by_rule = older_than is not None or keep_last is not None
    if runs and (by_rule or label is not None):
        problems.append(Problem("RUN", "is named beside --older-than, --keep-last or --label", "do one or the other"))
    if not runs and not by_rule:
        problems.append(Problem("RUN", "nothing says which runs", "name them, or give --older-than or --keep-last"))
    if force and not runs:
        problems.append(Problem("--force", "is for runs that are named", "name them"))
    if problems:
        raise InvalidInput(problems)
    return age


def _chosen(
    engine: sa.Engine, runs: list[str], age: timedelta | None, keep_last: int | None, label: str | None, force: bool
) -> list[Candidate]:
    """What is to go. Raises `InvalidInput` for a run that is not there, or active and not forced."""
    from api.reading import find_runs
    from passgrid.warehouse.pruning import named_runs, selected_runs

    with engine.connect() as connection:
        if not runs:
            return selected_runs(connection, older_than=age, keep_last=keep_last, label=label)
        chosen = named_runs(connection, find_runs(connection, runs))
    active = [one for one in chosen if one.active and not force]
    if active:
        raise InvalidInput(
            Problem(
                f"RUN {one.run_id[:12]}",
                f"is {one.state}, with {one.unfinished} attempts to be finished",
                f"`passgrid cancel {one.run_id[:12]}` first, or give --force",
            )
            for one in active
        )
    return chosen


def _tell(chosen: list[Candidate], pruned: PrunedRuns, swept: Swept, dry_run: bool, json: bool) -> None:
    if json:
        print_json(
            {
                "runs": pruned.runs,
                "attempts": pruned.attempts,
                "blobs": swept.blobs,
                "bytes": swept.bytes,
                "complete": swept.complete,
                "kept": list(pruned.rescued),
                "chosen": [one.run_id for one in chosen],
                "dry_run": dry_run,
            }
        )
        return
    for one in chosen:
        print(f"run {one.run_id[:12]}  {one.label}  {one.state}, {one.attempts} attempts")
    what = "would be deleted" if dry_run else "deleted"
    size = f"{swept.bytes / 1e6:.1f} MB"
    print(f"{pruned.runs} runs, {pruned.attempts} attempts and {swept.blobs} files ({size}) {what}")
    for run_id in pruned.rescued:
        print(f"run {run_id[:12]} became active meanwhile and stays")
    if not swept.complete:
        print("others stored files for so long that some were left to the next prune")
