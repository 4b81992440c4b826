"""`passgrid surface`: what servers list, how much of it a run used, and a tripwire for unannounced changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import sqlalchemy as sa
import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import Json, RunName, print_json
from passgrid.drift.findings import Finding
from passgrid.drift.tripwire import SURFACE_FILE, ToolUse, fingerprint, merged, pinned, tripped, uses
from passgrid.drift.tripwire import pin as pin_tools
from passgrid.library import find_suite
from passgrid.problems import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class _Surface:
    suite: str
    fingerprint: str
    tools: list[ToolUse]
    expected: str | None
    """The fingerprint that is pinned; None where none is."""
    changes: list[Finding]
    pinned_to: str | None = None


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("surface", epilog="Example: passgrid surface nightly-2026-11-30 --suite scenarios/demo")(surface)


def surface(
    run: RunName,
    suite: Annotated[list[Path] | None, typer.Option(help="Folders of the run's suites, where their pins lie.")] = None,
    pin: Annotated[bool, typer.Option("--pin", help=f"Write what was listed to {SURFACE_FILE} of each suite.")] = False,
    json: Json = False,
) -> None:
    """Show the tools a run was offered: read or write, calls, scenarios, and what is not as the suite pinned it.

    Exits with 3 where a pinned surface changed.
    """
    from api.reading import find_runs
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine

    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        run_id = find_runs(connection, [run])[0]
        found = _surfaces(connection, run_id, suite or [], pin)
    if json:
        print_json({"run": run_id, "suites": [_document(one) for one in found]})
    else:
        for one in found:
            _tell(one)
    if any(one.changes for one in found):
        raise SystemExit(3)


def _surfaces(connection: sa.Connection, run_id: str, folders: list[Path], pin: bool) -> list[_Surface]:
    from passgrid.warehouse.surfaces import surfaces, tool_calls_of

    calls = tool_calls_of(connection, run_id)
    found: list[_Surface] = []
    for suite, lists in surfaces(connection, run_id).items():
        tools = merged(lists)
        folder = _folder(suite, folders, needed=pin)
        expected = None if folder is None or pin else pinned(folder)
        written = str(pin_tools(folder, tools)) if pin and folder is not None else None
        changes = [] if expected is None else tripped(expected, tools)
        known = None if expected is None else fingerprint(expected)
        found.append(_Surface(suite, fingerprint(tools), uses(tools, calls.get(suite, {})), known, changes, written))
    return found


def _folder(suite: str, folders: list[Path], *, needed: bool) -> Path | None:
    from api.submission import library_folder

    given = next((folder for folder in folders if folder.resolve().name == suite), None)
    if given is not None:
        return given
    try:
        return find_suite(suite, library_folder())
    except InvalidInput:
        if needed:
            remedy = f"--suite with the folder of {suite}"
            raise InvalidInput([Problem("--pin", f"where is the suite {suite}?", remedy)]) from None
        return None


def _document(one: _Surface) -> dict[str, Any]:
    return {
        "suite": one.suite,
        "fingerprint": one.fingerprint,
        "pinned": one.expected,
        "tools": [asdict(tool) for tool in one.tools],
        "called": sum(tool.calls > 0 for tool in one.tools),
        "changes": [{"tool": change.tool, "place": change.place, "change": change.change, "severity": change.severity}
                    for change in one.changes],
        "written": one.pinned_to,
    }  # fmt: skip


def _tell(one: _Surface) -> None:
    called = sum(tool.calls > 0 for tool in one.tools)
    print(f"suite {one.suite}: surface {one.fingerprint}, {called} of {len(one.tools)} tools were called")
    table = Table()
    for column in ("server", "tool", "says it"):
        table.add_column(column, overflow="fold")
    for column in ("calls", "scenarios"):
        table.add_column(column, justify="right")
    for tool in one.tools:
        table.add_row(tool.server, tool.tool, "reads" if tool.reads else "writes", str(tool.calls), str(tool.scenarios))
    Console().print(table)
    for change in one.changes:
        place = f" {change.place}" if change.place else ""
        print(f"  changed: {change.tool}{place} {change.change} ({change.severity})")
    if one.changes:
        print(f"  it was pinned as {one.expected}; if that is meant, announce it: passgrid surface … --pin")
    elif one.pinned_to is not None:
        print(f"  pinned in {one.pinned_to}")
    elif one.expected is None:
        print("  nothing is pinned: --pin makes a later change stand out")
