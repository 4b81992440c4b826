"""`passgrid validate`: suites, scenarios and cassettes, before anybody submits them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.options import Json, print_json
from passgrid.problems import InvalidInput, Problem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("validate", epilog="Example: passgrid validate scenarios/demo")(validate)
    app.command("schema", epilog="Example: passgrid schema scenario > .vscode/scenario.schema.json")(schema)


def validate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Suites (folders) and cassettes (JSON files).")],
    json: Json = False,
) -> None:
    """Check suites with all their recordings, and single cassettes. Every problem is named; exits with 2 on any."""
    from passgrid.validation import validate_path

    problems: list[Problem] = []
    counts: dict[str, int] = {}
    for path in paths:
        found, wrong = validate_path(path)
        problems += wrong
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    if json:
        document: dict[str, Any] = {"problems": [str(problem) for problem in problems], **counts}
        print_json(document)
        if problems:
            raise SystemExit(2)
        return
    if problems:
        raise InvalidInput(problems)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()) + ": no problem")


def schema(kind: Annotated[str, typer.Argument(help="scenario, cassette, tape or schedule.")]) -> None:
    """Print the JSON Schema of a scenario, cassette or schedule file, or of a line of a tape, for editors."""
    from passgrid.validation import SCHEMAS

    if kind not in SCHEMAS:
        raise InvalidInput([Problem(kind, f"no such schema; there are: {', '.join(SCHEMAS)}")])
    print_json(SCHEMAS[kind]())
