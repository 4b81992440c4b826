"""`passgrid up`, `down`, `status` and `doctor`: the stack itself."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import Json, print_json
from api.stack.addresses import masked
from api.stack.doctor import diagnose
from api.stack.join import hold, release
from api.stack.status import StackStatus, stack_status


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("up", epilog="Example: passgrid up && submit-matrix --suite demo --model recorded:scripted-quick")(up)
    app.command("down", epilog="Example: passgrid down")(down)
    app.command("status", epilog="Example: passgrid status --json")(status)
    app.command("doctor", epilog="Example: passgrid doctor")(doctor)


def up(json: Json = False) -> None:
    """Start the embedded stack and keep it running until `passgrid down`."""
    addresses = hold()
    if json:
        print_json({"database": masked(addresses.database_url), "broker": masked(addresses.broker_url)})
    elif addresses.embedded:
        print("the stack is up and stays up; stop it with: passgrid down")
    else:
        print("external database and broker are configured and reachable; nothing embedded was started")


def down(json: Json = False) -> None:
    """Stop the embedded stack. Runs go on where they were when it starts again."""
    was_running = release()
    if json:
        print_json({"was_running": was_running})
    else:
        print("stopped" if was_running else "nothing was running")


def status(json: Json = False) -> None:
    """Say what runs, where, in which versions, and how far the active runs are. Starts nothing."""
    found = stack_status()
    runs = _active_runs(found)
    if json:
        print_json(_status_document(found) | {"runs": runs})
        return
    console = Console()
    _print_status(console, found)
    for run in runs:
        console.print(f"  run {run['run'][:12]}  {run['label']}  {run['mode']}  {run['done']}/{run['wanted']} done")


def doctor(json: Json = False) -> None:
    """Examine the installation, the stack and work that does not go on. Each thing wrong comes with its remedy.

    Exits with 1 if something is wrong. Notes are worth knowing and may be meant: a paused run, a provider that waits.
    """
    findings = diagnose()
    if json:
        print_json([asdict(finding) for finding in findings])
    else:
        table = Table(box=None, show_header=False, pad_edge=False)
        for finding in findings:
            good = "[yellow]note[/yellow]" if finding.remedy else "[green]ok[/green]"
            mark = good if finding.ok else "[red]WRONG[/red]"
            detail = f"{finding.detail}\n→ {finding.remedy}" if finding.remedy else finding.detail
            table.add_row(mark, finding.subject, detail)
        Console().print(table)
    if not all(finding.ok for finding in findings):
        raise SystemExit(1)


def _active_runs(found: StackStatus) -> list[dict[str, Any]]:
    """Runs that are not done; none where the database is not there to ask."""
    if not found.running or found.addresses is None or found.problem:
        return []
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.progress import active_runs

    with make_engine(found.addresses.database_url).connect() as connection:
        return active_runs(connection)


def _status_document(found: StackStatus) -> dict[str, Any]:
    addresses = found.addresses
    return {
        "home": str(found.home),
        "running": found.running,
        "phase": found.phase,
        "pid": found.pid,
        "since": found.since,
        "held": found.held,
        "embedded": addresses.embedded if addresses else None,
        "database": masked(addresses.database_url) if addresses else None,
        "broker": masked(addresses.broker_url) if addresses else None,
        "api": addresses.api_url if addresses else None,
        "versions": found.versions,
        "services": [asdict(service) for service in found.services],
        "users": list(found.users),
        "problem": found.problem,
    }


def _print_status(console: Console, found: StackStatus) -> None:
    state = "running" if found.running else "not running; commands start it when they need it"
    console.print(f"stack: {state}", highlight=False)
    console.print(f"  home      {found.home}", highlight=False, soft_wrap=True)
    if found.since is not None:
        minutes = (time.time() - found.since) / 60
        held = "held by `passgrid up`" if found.held else f"{len(found.users)} commands use it"
        console.print(f"  since     {minutes:.0f} minutes, process {found.pid}, {held}", highlight=False)
    if found.addresses is not None:
        console.print(f"  database  {masked(found.addresses.database_url)}", highlight=False, soft_wrap=True)
        console.print(f"  broker    {masked(found.addresses.broker_url)}", highlight=False, soft_wrap=True)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(found.versions.items()))
    console.print(f"  versions  {versions}", highlight=False, soft_wrap=True)
    for service in found.services:
        life = f"process {service.pid}" if service.alive else "down"
        console.print(f"  {service.name:<9} {life}, restarted {service.restarts} times", highlight=False)
    if found.problem:
        console.print(f"  problem   {found.problem}; see `passgrid doctor`", style="red", highlight=False)
