"""`passgrid validate`: suites, scenarios, cassettes and files of fakes, before anybody submits or serves them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.options import Json, print_json
from passgrid.problems import InvalidInput, Problem


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("validate", epilog="Example: passgrid validate scenarios/demo fakes/shop.json")(validate)
    app.command("schema", epilog="Example: passgrid schema scenario > .vscode/scenario.schema.json")(schema)


def validate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH…", help="Suites (folders), cassettes and fakes (JSON files, or folders of such)."),
    ],
    json: Json = False,
) -> None:
    """Check suites with all their recordings, cassettes and fakes. Every problem is named; exits with 2 on any."""
    problems: list[Problem] = []
    warnings: list[str] = []
    counts: dict[str, int] = {}
    for path in paths:
        found, wrong, doubtful = _checked(path)
        problems += wrong
        warnings += doubtful
        for kind, count in found.items():
            counts[kind] = counts.get(kind, 0) + count
    if json:
        texts = [str(problem) for problem in problems]
        document: dict[str, Any] = {"problems": texts, "warnings": warnings, **counts}
        print_json(document)
        if problems:
            raise SystemExit(2)
        return
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if problems:
        raise InvalidInput(problems)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()) + ": no problem")


def _checked(path: Path) -> tuple[dict[str, int], Sequence[Problem], Sequence[str]]:
    """What there is at a path, counted by kind, what is wrong with it, and what is only doubtful."""
    from passgrid.fakes_validation import check_fakes, holds_fakes
    from passgrid.validation import validate_path

    if holds_fakes(path):
        checked = check_fakes(path)
        return checked.counts, checked.problems, checked.warnings
    return *validate_path(path), ()


def schema(kind: Annotated[str, typer.Argument(help="scenario, cassette, tape or schedule.")]) -> None:
    """Print the JSON Schema of a scenario, cassette or schedule file, or of a line of a tape, for editors."""
    from passgrid.validation import SCHEMAS

    if kind not in SCHEMAS:
        raise InvalidInput([Problem(kind, f"no such schema; there are: {', '.join(SCHEMAS)}")])
    print_json(SCHEMAS[kind]())
