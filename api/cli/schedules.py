"""`passgrid schedule`: what is submitted by itself, what became of its slots, and firing by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from api.cli.options import DryRun, Json, print_json
from passgrid.problems import InvalidInput, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from passgrid.schedules.schedule_file import Schedule
    from passgrid.warehouse.firings import Firing

Name = Annotated[str, typer.Argument(metavar="SCHEDULE", help="A name in the schedule file.")]
Most = Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Matrices that are submitted by themselves.")
    group.command("list", epilog="Example: passgrid schedule list --json")(list_)
    group.command("show", epilog="Example: passgrid schedule show nightly")(show)
    group.command("check", epilog="Example: passgrid schedule check")(check)
    group.command("run-now", epilog="Example: passgrid schedule run-now nightly --dry-run")(run_now)
    app.add_typer(group, name="schedule")


def list_(json: Json = False) -> None:
    """List schedules with their next slot, and what became of the last one; missed ones are counted."""
    from api.stack.join import joined_stack
    from passgrid.schedules.cron import next_slots
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.firings import last_firings

    schedules, now = _schedules(), datetime.now(UTC)
    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        last = last_firings(connection)
    rows: list[dict[str, Any]] = []
    for name, one in schedules.items():
        latest, skipped = last.get(name, (None, 0))
        rows.append(
            {
                "schedule": name,
                "cron": one.cron,
                "timezone": one.timezone,
                "next": next_slots(one.parsed, one.zone, now, 1)[0].astimezone(one.zone).isoformat(),
                "last": latest.to_json() if latest else None,
                "skipped": skipped,
            }
        )
    if json:
        print_json(rows)
        return
    table = Table()
    for column in ("schedule", "cron", "time zone", "next", "last", "state", "skipped"):
        table.add_column(column, overflow="fold")
    for row in rows:
        last_one: dict[str, Any] = row["last"] or {"label": "none", "state": ""}
        texts = (row["schedule"], row["cron"], row["timezone"], row["next"], last_one["label"], last_one["state"])
        table.add_row(*texts, str(row["skipped"]))
    Console().print(table)


def show(name: Name, most: Most = 20, json: Json = False) -> None:
    """Show what a schedule submits, its next slots, and what became of those before, missed ones too."""
    from api.stack.join import joined_stack
    from passgrid.schedules.cron import next_slots
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.firings import firings_of

    one = _schedule(name)
    coming = [slot.astimezone(one.zone).isoformat() for slot in next_slots(one.parsed, one.zone, datetime.now(UTC), 3)]
    with joined_stack() as addresses, make_engine(addresses.database_url).connect() as connection:
        firings = firings_of(connection, name, most)
    if json:
        facts = one.model_dump(mode="json", exclude_defaults=True)
        print_json({"schedule": name, **facts, "next": coming, "firings": [firing.to_json() for firing in firings]})
        return
    print(f"{name}: {one.cron}, {one.timezone}; missed slots: {one.missed}")
    print(f"  next: {', '.join(coming)}")
    for firing in firings:
        print(_line(firing, one))


def check(json: Json = False) -> None:
    """Check the schedule file, and everything its matrices name. Names every problem; exits with 2 on any."""
    from api.nightly.place import schedule_path
    from api.submission import plan_request

    schedules, problems = _schedules(), list[Problem]()
    for name, one in schedules.items():
        for request in filter(None, one.requests(one.label_of(name, datetime.now(UTC)))):
            try:
                plan_request(request)
            except InvalidInput as error:
                problems += [Problem(f"{schedule_path()}: {name}", str(problem)) for problem in error.problems]
    if json:
        print_json({"file": str(schedule_path()), "schedules": len(schedules), "problems": [str(p) for p in problems]})
        raise SystemExit(2 if problems else 0)
    if problems:
        raise InvalidInput(problems)
    print(f"{schedule_path()}: {len(schedules)} schedules, no problem")


def run_now(name: Name, dry_run: DryRun = False, json: Json = False) -> None:
    """Fire a schedule at once, under a label of its own; its slots stay as they are."""
    from api.nightly.nightly import Nightly
    from api.stack.join import joined_stack
    from api.submission import plan_request
    from passgrid.warehouse.engine import make_engine

    one, now = _schedule(name), datetime.now(UTC)
    if dry_run:
        main, drift = one.requests(one.label_of(name, now))
        plans = [plan_request(request) for request in (main, drift) if request is not None]
        facts = {"schedule": name, "attempts": [plan.wanted for plan in plans], "budget": one.budget}
        print_json(facts) if json else print(
            f"{name}: {' and '.join(str(p.wanted) for p in plans)} attempts; nothing done"
        )
        return
    with joined_stack() as addresses:
        slot = Nightly(make_engine(addresses.database_url)).run_now(name, one, now)
    if json:
        print_json({"schedule": name, "label": slot.label})
    else:
        print(f"{name}: fired as {slot.label}")
        print(f"  watch it:  passgrid watch {slot.label}")


def _schedules() -> Mapping[str, Schedule]:
    from api.nightly.place import schedule_path
    from passgrid.schedules.schedule_file import read_schedules

    path = schedule_path()
    if not path.is_file():
        raise InvalidInput([Problem(str(path), "there is no schedule file", "write one; the README shows how")])
    return read_schedules(path)


def _schedule(name: str) -> Schedule:
    schedules = _schedules()
    if name not in schedules:
        known = ", ".join(sorted(schedules)) or "none"
        raise InvalidInput([Problem(name, f"no such schedule; there are: {known}")])
    return schedules[name]


def _line(firing: Firing, schedule: Schedule) -> str:
    local = firing.slot.astimezone(schedule.zone)
    text = f"  {local:%Y-%m-%d %H:%M}  {firing.state:<8} {firing.label}"
    if firing.run_id:
        text += f"  run {firing.run_id[:12]}"
    if firing.recordings:
        text += f", {firing.recordings} cassettes"
    return f"{text}  {firing.detail}" if firing.detail else text
