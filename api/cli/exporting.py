"""`passgrid export`: the DuckDB file for analysis."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export", epilog="Example: passgrid export --out results.duckdb")(export)


def export(
    out: Annotated[Path | None, typer.Option(help="Also copy the file here.")] = None, json: Json = False
) -> None:
    """Bring the DuckDB file up to date: only what changed is read, and dashboards stay open."""
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
