"""`passgrid import` of results: runs that other tools, or another Passgrid, measured, marked as imported, never run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.importers.imported_run import ImportedRun
from passgrid.importers.result_file import Results
from passgrid.importers.score_rule import ScoreRule
from passgrid.outcome import OutcomeKind
from passgrid.problems import InvalidInput, Problem

Files = Annotated[list[Path], typer.Argument(metavar="FILE…", help="Files to read, plain or gzip.")]
Label = Annotated[str | None, typer.Option(help="Of the runs; that of the files if not given.")]
Suite = Annotated[
    str | None, typer.Option(help="Suite the scenarios belong to, such as the one of yours they are compared with.")
]
Score = Annotated[
    str | None, typer.Option(metavar="NAME", help="The score that decides, or NAME.KEY of one with several values.")
]
PassAt = Annotated[float | None, typer.Option(metavar="NUMBER", help="From where on the score is a pass: 1.")]
SHOWN = 20


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("passgrid", epilog="Example: passgrid import passgrid exported --label 'of the other team'")(passgrid)
    group.command("xplainable", epilog="Example: passgrid import xplainable results/*.json --suite telco")(xplainable)
    group.command("inspect", epilog="Example: passgrid import inspect logs/*.eval --score includes")(inspect)
    group.command(
        "pydantic-evals", epilog="Example: passgrid import pydantic-evals report.json --model openai:gpt-5 --suite shop"
    )(pydantic_evals)


def passgrid(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Folders of `passgrid export --format`.")],
    label: Label = None,
    json: Json = False,
) -> None:
    """Runs that were exported as Parquet or JSONL, here or elsewhere."""
    from passgrid.importers.passgrid_export import read_export

    _import(Results(tuple(run for folder in folders for run in read_export(folder))), label, json)


def xplainable(files: Files, suite: Suite = None, label: Label = None, json: Json = False) -> None:
    """Results of xplainable's evals, of every generation: one JSON file for each model and prompt.

    A case that was dropped because its task raised, or that a cut-off file does not hold, is a lost attempt.
    """
    from passgrid.importers.xplainable import read_results

    _import(read_results(files, suite), label, json)


def inspect(
    files: Files,
    score: Score = None,
    pass_at: PassAt = None,
    suite: Suite = None,
    label: Label = None,
    json: Json = False,
) -> None:
    """Logs of Inspect: `.eval` files, or JSON. Needs the extra `inspect`.

    Samples are scenarios, epochs are attempts. One score decides; C is 1, P is 0.5, I and N are 0. A sample that ended
    in an error, or without a score, is an infra error.
    """
    try:
        from passgrid.importers.inspect_log import read_logs
    except ModuleNotFoundError as error:
        remedy = "pip install 'passgrid[inspect]'"
        raise InvalidInput([Problem("inspect", f"its library is not installed ({error.name})", remedy)]) from error
    _import(read_logs(files, ScoreRule(score, pass_at), suite), label, json)


def pydantic_evals(
    files: Files,
    model: Annotated[str | None, typer.Option(help="That was measured, where the report does not say it.")] = None,
    score: Score = None,
    pass_at: PassAt = None,
    suite: Suite = None,
    label: Label = None,
    json: Json = False,
) -> None:
    """Reports of pydantic-evals as JSON: every assertion has to be true, or, with --score, that score decides.

    A case whose task raised is an infra error.
    """
    from passgrid.importers.pydantic_evals_report import read_reports

    _import(read_reports(files, ScoreRule(score, pass_at), suite, model), label, json)


@dataclass(frozen=True, slots=True)
class Unread:
    """An attempt that was wanted and does not count."""

    run: str
    place: str
    reason: str


def _import(results: Results, label: str | None, json: bool) -> None:
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.importing import write_run

    named = results.runs if label is None else [replace(run, label=label) for run in results.runs]
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        written = [write_run(engine, run) for run in named]
    unread = [one for run, done in zip(named, written, strict=True) for one in unread_attempts(run, done.run_id)]
    if json:
        runs = [{"run": one.run_id, "attempts": one.attempts, "new": one.new} for one in written]
        lost = [{"run": one.run, "attempt": one.place, "reason": one.reason} for one in unread]
        print_json({"runs": runs, "unread": lost, "notes": list(results.notes)})
        return
    for run, one in zip(named, written, strict=True):
        what = f"{one.attempts} attempts" if one.new else "is there already"
        print(f"{one.run_id[:12]} {run.label} (imported from {run.source}): {what}")
    for note in results.notes:
        print(f"  {note}")
    say_unread(unread)
    names = dict.fromkeys(one.run_id[:12] for one in written)
    print(f"  see what they say: passgrid report {' '.join(names)}")


def unread_attempts(run: ImportedRun, run_id: str) -> Iterator[Unread]:
    """Those of a run that a file lost, or says too little of."""
    for arm in run.arms:
        for one in arm.attempts:
            if one.outcome.kind is OutcomeKind.INFRA_ERROR:
                place = f"{arm.model}, {arm.prompt}: {one.suite}/{one.scenario}, sample {one.sample}"
                yield Unread(run_id, place, one.outcome.reason)


def say_unread(unread: list[Unread]) -> None:
    """Name them; nothing where there is none."""
    if not unread:
        return
    attempts = "1 attempt does" if len(unread) == 1 else f"{len(unread)} attempts do"
    print(f"  {attempts} not count, wanted and not valid:")
    for one in unread[:SHOWN]:
        print(f"    {one.place}: {one.reason}")
    if len(unread) > SHOWN:
        print(f"    and {len(unread) - SHOWN} more (--json names them)")
