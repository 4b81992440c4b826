"""`passgrid import`: other tools' recordings become suites, results become runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.importers.imported_run import ImportedRun
from passgrid.problems import InvalidInput, Problem


def _read_passgrid(files: Sequence[Path]) -> list[ImportedRun]:
    from passgrid.importers.passgrid_export import read_export

    return [run for folder in files for run in read_export(folder)]


RUN_FORMATS: dict[str, Callable[[Sequence[Path]], list[ImportedRun]]] = {"passgrid": _read_passgrid}
"""Formats of results, which become runs; what reads each is imported when it is asked for."""
FORMATS = ("tau-bench", "vcr", *RUN_FORMATS)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", epilog="Example: passgrid import tau-bench gpt-4o-airline.json --suite airline --out suites")(
        import_results
    )


def import_results(
    format: Annotated[str, typer.Argument(help=f"One of {', '.join(FORMATS)}.")],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="tau-bench: one JSON file, plain or gzip; vcr: one YAML file; results: files or folders.",
        ),
    ],
    suite: Annotated[str | None, typer.Option(help="Name of the suite to write.")] = None,
    out: Annotated[Path, typer.Option(help="Folder to write it into.")] = Path(),
    label: Annotated[
        str | None, typer.Option(help="Of the recordings (recorded:LABEL, gpt-4o if not given), or of the runs.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="RUN", help="Write nothing; compare the file with the transcripts of a run.")
    ] = None,
    json: Json = False,
) -> None:
    """Turn recorded trajectories into a suite, MCP sessions into tapes, and results into runs that can be compared.

    passgrid: folders of `passgrid export --format`. Imported runs are marked as such, and never run.
    """
    if format not in FORMATS:
        raise InvalidInput([Problem(format, f"no such format; there are: {', '.join(FORMATS)}")])
    if format in RUN_FORMATS:
        _import_runs(RUN_FORMATS[format](files), label, json)
        return
    if len(files) > 1:
        raise InvalidInput([Problem(str(files[1]), f"{format} takes one file", "import one after the other")])
    (file,) = files
    if compare is not None:
        _compare(file, compare, json)
        return
    if format == "vcr":
        _import_tapes(file, out / suite / "tapes" if suite else out, json)
        return
    if suite is None:
        raise InvalidInput([Problem("--suite", "name the suite to write", "for example --suite airline")])
    from passgrid.importers.tau_bench_suite import import_suite

    label = label or "gpt-4o"
    imported = import_suite(file, out, suite, label)
    if json:
        print_json(imported.to_json())
        return
    print(f"{imported.folder}: {imported.scenarios} scenarios, {imported.cassettes} cassettes")
    print(f"  replay them: submit-matrix --suite {imported.folder} --model recorded:{label} -k {imported.k} --wait")


def _import_runs(runs: Sequence[ImportedRun], label: str | None, json: bool) -> None:
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.importing import write_run

    named = runs if label is None else [replace(run, label=label) for run in runs]
    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        written = [write_run(engine, run) for run in named]
    if json:
        print_json({"runs": [{"run": one.run_id, "attempts": one.attempts, "new": one.new} for one in written]})
        return
    for run, one in zip(named, written, strict=True):
        what = f"{one.attempts} attempts" if one.new else "is there already"
        print(f"{one.run_id[:12]} {run.label} (imported from {run.source}): {what}")
    names = dict.fromkeys(one.run_id[:12] for one in written)
    print(f"  see what they say: passgrid report {' '.join(names)}")


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
