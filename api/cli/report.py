"""`passgrid report`: what runs say, compared with a baseline, in every format."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.cli.options import Json, print_json
from passgrid.problems import InvalidInput, Problem, Unreachable

if TYPE_CHECKING:
    from passgrid.report.report import Report
    from passgrid.report.tool_use import ToolUses

FORMATS = ("table", "json", "markdown", "junit", "html")


def register(app: typer.Typer) -> None:
    """Add the command."""
    example = "passgrid report candidate --baseline main --gate pass@1:-5pt --format markdown"
    app.command("report", epilog=f"Example: {example}")(report)


def report(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Starts of run ids, or labels.")],
    baseline: Annotated[
        str | None,
        typer.Option(help="The run to compare with; or AXIS=VALUE (model=…, prompt=…) for arms of the same runs."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIGURE:MARGIN",
            help="When to fail: pass@1:-5pt, pass^3:-5pt, steps:+10%, tokens, cost or duration; several are allowed.",
        ),
    ] = None,
    format: Annotated[str, typer.Option(help=f"One of {', '.join(FORMATS)}.")] = "table",
    out: Annotated[Path | None, typer.Option(help="Write it into this file.")] = None,
    json: Json = False,
) -> None:
    """Show every arm of runs with n, coverage, pass@k and pass^k with intervals, differences, and why attempts failed.

    Without --baseline all other arms are compared with the first. Exits with 3 when a gate finds a regression, with 4
    when it is inconclusive or an arm's coverage is below 95 %: nothing can be concluded then.
    """
    format = "json" if json else format
    if format not in FORMATS:
        raise InvalidInput([Problem(f"--format {format}", f"no such format; there are: {', '.join(FORMATS)}")])
    from api.reading import read_report, read_tool_use
    from api.stack.join import joined_stack
    from passgrid.report.gates import read_gates
    from passgrid.warehouse.engine import make_engine

    gates = read_gates(gate or [])
    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        found = read_report(connection, runs, baseline, gates)
        tools: ToolUses = read_tool_use(connection, found) if format == "html" else {}
    if format == "table" and out is None:
        from rich.console import Console

        from api.cli.report_table import print_report

        print_report(Console(), found)
    elif format == "json" and out is None:
        from passgrid.report.document import report_document

        print_json(report_document(found))
    else:
        text = _text(format, found, tools)
        if out is None:
            print(text)
        else:
            _write(out, text)
    raise SystemExit(found.exit_code)


def _text(format: str, found: Report, tools: ToolUses) -> str:
    if format == "table":
        from api.cli.report_table import report_text

        return report_text(found)
    if format == "json":
        import orjson

        from passgrid.report.document import report_document

        return orjson.dumps(report_document(found), option=orjson.OPT_INDENT_2).decode()
    if format == "markdown":
        from passgrid.report.markdown import report_markdown

        return report_markdown(found)
    if format == "junit":
        from passgrid.report.junit import report_junit

        return report_junit(found)
    from passgrid.report.html import report_html

    return report_html(found, tools)


def _write(out: Path, text: str) -> None:
    """The file is there complete or not at all."""
    partial = out.with_name(f".{out.name}.partial")
    try:
        partial.write_text(text + "\n", encoding="utf-8")
        os.replace(partial, out)
    except OSError as error:
        partial.unlink(missing_ok=True)
        remedy = "name a file in a folder that is there"
        raise Unreachable(f"--out {out}: cannot be written: {error.strerror or error}; {remedy}") from error
