"""`passgrid import`: other tools' recordings become suites and tapes; their results become runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli import importing_results
from api.cli.options import Json, print_json

File = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
NewSuite = Annotated[str, typer.Option(help="Name of the suite to write.")]
Out = Annotated[Path, typer.Option(help="Folder to write it into.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Take over what other tools recorded and measured.")
    group.command(
        "tau-bench", epilog="Example: passgrid import tau-bench gpt-4o-airline.json --suite airline --out suites"
    )(tau_bench)
    group.command("vcr", epilog="Example: passgrid import vcr cassette.yaml --out tapes")(vcr)
    group.command(
        "pydantic-evals-dataset",
        epilog="Example: passgrid import pydantic-evals-dataset cases.yaml --suite capitals --out suites",
    )(pydantic_evals_dataset)
    importing_results.register(group)
    app.add_typer(group, name="import")


def tau_bench(
    file: File,
    suite: Annotated[str | None, typer.Option(help="Name of the suite to write.")] = None,
    out: Out = Path(),
    label: Annotated[str, typer.Option(help="Of the recordings: they are replayed as recorded:LABEL.")] = "gpt-4o",
    compare: Annotated[
        str | None, typer.Option(metavar="RUN", help="Write nothing; compare the file with the transcripts of a run.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a suite of tau-bench trajectories (JSON, plain or gzip): a scenario a task, a cassette a trial."""
    from passgrid.importers.tau_bench_suite import import_suite
    from passgrid.problems import InvalidInput, Problem

    if compare is not None:
        _compare(file, compare, json)
        return
    if suite is None:
        raise InvalidInput([Problem("--suite", "name the suite to write", "for example --suite airline")])
    imported = import_suite(file, out, suite, label)
    if json:
        print_json(imported.to_json())
        return
    print(f"{imported.folder}: {imported.scenarios} scenarios, {imported.cassettes} cassettes")
    print(f"  replay them: submit-matrix --suite {imported.folder} --model recorded:{label} -k {imported.k} --wait")


def vcr(
    file: File,
    suite: Annotated[str | None, typer.Option(help="Suite they belong to: they go into its folder tapes.")] = None,
    out: Out = Path(),
    json: Json = False,
) -> None:
    """Make tapes of the MCP sessions in a cassette of vcr.py (YAML)."""
    from passgrid.importers.vcr import import_tapes

    imported = import_tapes(file, out / suite / "tapes" if suite else out)
    if json:
        print_json(imported.to_json())
        return
    for path in imported.files:
        print(path)
    print(f"{len(imported.files)} tapes, {imported.frames} frames; {imported.skipped} exchanges are not MCP, left out")


def pydantic_evals_dataset(file: File, suite: NewSuite, out: Out = Path(), json: Json = False) -> None:
    """Make a suite of a dataset of pydantic-evals (YAML or JSON): a scenario a case, its evaluators as checks."""
    from passgrid.importers.pydantic_evals_dataset import import_dataset

    imported = import_dataset(file, out, suite)
    if json:
        print_json(imported.to_json())
        return
    print(f"{imported.folder}: {imported.scenarios} scenarios")
    for note in imported.notes:
        print(f"  {note}")
    print(f"  look at them: passgrid validate {imported.folder}")


def _compare(file: Path, run: str, json: bool) -> None:
    """Print how many transcripts equal their trajectory, message for message; exit with 3 unless all do."""
    from api.reading import find_runs
    from api.stack.join import joined_stack
    from passgrid.importers.tau_bench import read_trajectories, same_conversation
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.reading import run_transcripts

    trajectories = {(one.scenario, one.trial): one for one in read_trajectories(file)}
    different: list[str] = []
    compared = 0
    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        (run_id,) = find_runs(connection, [run])
        for scenario, sample, messages in run_transcripts(connection, run_id):
            trajectory = trajectories.get((scenario, sample))
            if trajectory is None:
                continue
            compared += 1
            if not same_conversation(trajectory, messages):
                different.append(f"{scenario}, sample {sample}")
    equal = compared - len(different)
    if json:
        print_json({"equal": equal, "of": len(trajectories), "different": different})
    else:
        print(f"{equal}/{len(trajectories)} transcripts equal their trajectory, message for message")
        for place in different[:20]:
            print(f"  different: {place}")
    if equal != len(trajectories):
        raise SystemExit(3)
