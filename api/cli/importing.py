"""`passgrid import`: other tools' results and recordings become suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.problems import InvalidInput, Problem

FORMATS = ("tau-bench", "vcr")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", epilog="Example: passgrid import tau-bench gpt-4o-airline.json --suite airline --out suites")(
        import_results
    )


def import_results(
    format: Annotated[str, typer.Argument(help=f"One of {', '.join(FORMATS)}.")],
    file: Annotated[Path, typer.Argument(help="The published file: JSON, plain or gzip; vcr: YAML.")],
    suite: Annotated[str | None, typer.Option(help="Name of the suite to write.")] = None,
    out: Annotated[Path, typer.Option(help="Folder to write it into.")] = Path(),
    label: Annotated[str, typer.Option(help="Label of the recordings: replayed as recorded:LABEL.")] = "gpt-4o",
    compare: Annotated[
        str | None, typer.Option(metavar="RUN", help="Write nothing; compare the file with the transcripts of a run.")
    ] = None,
    json: Json = False,
) -> None:
    """Turn trajectories that another tool recorded into a suite, or recorded MCP sessions into tapes."""
    if format not in FORMATS:
        raise InvalidInput([Problem(format, f"no such format; there are: {', '.join(FORMATS)}")])
    if compare is not None:
        _compare(file, compare, json)
        return
    if format == "vcr":
        _import_tapes(file, out / suite / "tapes" if suite else out, json)
        return
    if suite is None:
        raise InvalidInput([Problem("--suite", "name the suite to write", "for example --suite airline")])
    from passgrid.importers.tau_bench_suite import import_suite

    imported = import_suite(file, out, suite, label)
    if json:
        print_json(imported.to_json())
        return
    print(f"{imported.folder}: {imported.scenarios} scenarios, {imported.cassettes} cassettes")
    print(f"  replay them: submit-matrix --suite {imported.folder} --model recorded:{label} -k {imported.k} --wait")


def _import_tapes(file: Path, folder: Path, json: bool) -> None:
    from passgrid.importers.vcr import import_tapes

    imported = import_tapes(file, folder)
    if json:
        print_json(imported.to_json())
        return
    for path in imported.files:
        print(path)
    print(f"{len(imported.files)} tapes, {imported.frames} frames; {imported.skipped} exchanges are not MCP, left out")


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
