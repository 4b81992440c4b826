"""Options several commands share, spelled once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import orjson
import typer

from passgrid.problems import InvalidInput, Problem

Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="The start of a run's id, or its label (the newest such).")]


def print_json(value: Any) -> None:
    """One JSON document on stdout."""
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def refuse(given: Iterable[tuple[str, object]]) -> None:
    """Refuse flags whose part does not exist yet; never ignore them."""
    problems = [Problem(flag, "is not in this version") for flag, value in given if value]
    if problems:
        raise InvalidInput(problems)
