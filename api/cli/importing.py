"""`passgrid import`: other tools' results and recordings become suites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.problems import InvalidInput, Problem

FORMATS = ("tau-bench",)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("import", epilog="Example: passgrid import tau-bench gpt-4o-airline.json --suite airline --out suites")(
        import_results
    )


def import_results(
    format: Annotated[str, typer.Argument(help=f"One of {', '.join(FORMATS)}.")],
    file: Annotated[Path, typer.Argument(help="The published file, plain or gzip.")],
    suite: Annotated[str, typer.Option(help="Name of the suite to write.")],
    out: Annotated[Path, typer.Option(help="Folder to write it into.")] = Path(),
    label: Annotated[str, typer.Option(help="Label of the recordings: replayed as recorded:LABEL.")] = "gpt-4o",
    json: Json = False,
) -> None:
    """Turn trajectories that another tool recorded into scenarios and cassettes."""
    if format not in FORMATS:
        raise InvalidInput([Problem(format, f"no such format; there are: {', '.join(FORMATS)}")])
    from passgrid.importers.tau_bench_suite import import_suite

    imported = import_suite(file, out, suite, label)
    if json:
        print_json(imported.to_json())
        return
    print(f"{imported.folder}: {imported.scenarios} scenarios, {imported.cassettes} cassettes")
    print(f"  replay them: submit-matrix --suite {imported.folder} --model recorded:{label} -k {imported.k} --wait")
