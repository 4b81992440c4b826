"""`passgrid export`: the DuckDB file for analysis, or runs as a folder of Parquet or JSON lines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.importers.export_rows import KINDS, Kind
from passgrid.problems import InvalidInput, Problem

DUCKDB = "duckdb"


def register(app: typer.Typer) -> None:
    """Add the command."""
    example = "passgrid export --out results.duckdb, or: passgrid export nightly --format parquet --out nightly-run"
    app.command("export", epilog=f"Example: {example}")(export)


def export(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN…]", help="Which runs, with parquet and jsonl; else all.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="duckdb: also copy the file here. parquet, jsonl: the folder to make.")
    ] = None,
    format: Annotated[str, typer.Option(help=f"{DUCKDB}, {' or '.join(KINDS)}.")] = DUCKDB,
    json: Json = False,
) -> None:
    """Bring the DuckDB file up to date, or write finished runs as a folder that `passgrid import passgrid` reads."""
    if format == DUCKDB:
        if runs:
            remedy = f"name none, or add --format {KINDS[0]} and --out"
            raise InvalidInput([Problem(" ".join(runs), "the DuckDB file always holds every run", remedy)])
        _export_analysis(out, json)
    else:
        _export_runs(runs or [], out, format, json)


def _export_analysis(out: Path | None, json: bool) -> None:
    from api.exporting import analysis_folder
    from api.stack.join import joined_stack
    from passgrid.warehouse.analysis.export import export as export_analysis

    with joined_stack() as addresses:
        exported = export_analysis(addresses.psycopg_url, analysis_folder())
    file = exported.file
    if out is not None:
        partial = out.with_name(f".{out.name}.partial")
        shutil.copyfile(exported.file, partial)
        partial.replace(out)
        file = out
    if json:
        print_json({"file": str(file), "runs": exported.runs, "attempts": exported.attempts, "full": exported.rebuilt})
    else:
        kind = "everything was read" if exported.rebuilt else "changes only"
        print(f"{file}: {exported.runs} runs and {exported.attempts} attempts came, {kind}")


def _export_runs(references: list[str], out: Path | None, format: str, json: bool) -> None:
    kind: Kind | None = next((kind for kind in KINDS if kind == format), None)
    problems: list[Problem] = []
    if kind is None:
        problems.append(Problem(f"--format {format}", f"no such format; there are: {DUCKDB}, {', '.join(KINDS)}"))
    if out is None:
        problems.append(Problem("--out", "name the folder to make", "for example --out results"))
    if kind is None or out is None:
        raise InvalidInput(problems)
    from api.reading import find_runs, finished_runs
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.run_export import export_runs

    with joined_stack() as addresses:
        with make_engine(addresses.database_url).connect() as connection:
            found = find_runs(connection, references) if references else finished_runs(connection)
        exported = export_runs(addresses.psycopg_url, found, kind, out)
    if json:
        print_json({"folder": str(exported.folder), "runs": found, "rows": exported.rows})
        return
    print(f"{exported.folder}: {', '.join(f'{count:,} {table}' for table, count in exported.rows.items())}")
    print(f"  read it back, here or elsewhere: passgrid import passgrid {exported.folder}")
