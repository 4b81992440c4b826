"""Firings of schedules: one row for each slot, which decides who fires it, in the same transaction as its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from passgrid.plan import Plan
from passgrid.warehouse.submission import submit_within

_DETAIL_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a schedule, and the label of its runs."""

    schedule: str
    slot: datetime
    label: str
    manual: bool = False
    """Asked for by hand."""


@dataclass(frozen=True, slots=True)
class Firing:
    """What became of a slot."""

    schedule: str
    slot: datetime
    label: str
    manual: bool
    state: str
    """running, done, skipped or failed."""
    run_id: str | None
    drift_run_id: str | None
    record: bool
    recordings: int
    detail: str
    fired_at: datetime
    ended_at: datetime | None

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it; times in UTC."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


_COLUMNS = ", ".join(Firing.__dataclass_fields__)


def slots_since(connection: sa.Connection, schedule: str, slots_text: str, now: datetime) -> datetime:
    """The moment after which slots of a schedule are still to be decided on.

    A schedule that is new, or whose slots were changed, starts now.
    """
    known = connection.execute(_SINCE, {"name": schedule, "slots": slots_text}).one_or_none()
    if known is None:
        connection.execute(
            sa.text(
                "INSERT INTO schedules (name, slots, since) VALUES (:name, :slots, :now) "
                "ON CONFLICT (name) DO UPDATE SET slots = excluded.slots, since = excluded.since "
                "WHERE schedules.slots <> excluded.slots"
            ),
            {"name": schedule, "slots": slots_text, "now": now},
        )
        known = connection.execute(_SINCE, {"name": schedule, "slots": slots_text}).one()
        connection.commit()
    connection.rollback()
    return known.since


_SINCE = sa.text(
    "SELECT greatest(since, (SELECT max(slot) FROM firings WHERE schedule = :name AND NOT manual)) AS since "
    "FROM schedules WHERE name = :name AND slots = :slots"
)


def fire(engine: sa.Engine, slot: Slot, plan: Plan, drift: Plan | None, now: datetime) -> bool:
    """Submit the runs of a slot and say so, all or nothing. False where the slot has been decided on.

    Somebody else who is just doing it is waited for. Raises `InvalidInput` like `submit`.
    """
    with engine.begin() as connection:
        if not _take(connection, slot, "running", now, record=plan.request.record):
            return False
        submit_within(connection, plan)
        if drift is not None:
            submit_within(connection, drift)
        connection.execute(
            sa.text("UPDATE firings SET run_id = :run, drift_run_id = :drift WHERE schedule = :name AND slot = :slot"),
            {
                "run": plan.run_id,
                "drift": drift.run_id if drift else None,
                "name": slot.schedule,
                "slot": slot.slot,
            },
        )
    return True


def pass_over(engine: sa.Engine, slot: Slot, state: str, detail: str, now: datetime) -> bool:
    """Note that a slot was skipped, or that firing it failed. False where it has been decided on."""
    with engine.begin() as connection:
        return _take(connection, slot, state, now, detail=detail)


def _take(
    connection: sa.Connection, slot: Slot, state: str, now: datetime, *, record: bool = False, detail: str = ""
) -> bool:
    """Whoever writes the row has the slot; another who tries waits for the end of this transaction."""
    done = connection.execute(
        sa.text(
            "INSERT INTO firings (schedule, slot, label, manual, state, record, detail, fired_at, ended_at) "
            "VALUES (:schedule, :slot, :label, :manual, :state, :record, :detail, :now, "
            "CASE WHEN :state = 'running' THEN NULL ELSE cast(:now AS timestamptz) END) "
            "ON CONFLICT (schedule, slot) DO NOTHING"
        ),
        {
            "schedule": slot.schedule,
            "slot": slot.slot,
            "label": slot.label,
            "manual": slot.manual,
            "state": state,
            "record": record,
            "detail": detail[:_DETAIL_LIMIT].replace("\0", "\ufffd"),
            "now": now,
        },
    )
    return done.rowcount == 1


_ENDED = sa.text(f"""
SELECT {_COLUMNS} FROM firings WHERE state = 'running' AND NOT EXISTS (
    SELECT 1 FROM runs WHERE runs.run_id IN (firings.run_id, firings.drift_run_id)
    AND (runs.state IN ('active', 'paused')
         OR EXISTS (SELECT 1 FROM attempts WHERE attempts.run_id = runs.run_id AND attempts.state = 'running')))
ORDER BY slot FOR UPDATE SKIP LOCKED
""")  # noqa: S608 - names of ours


def take_ended(connection: sa.Connection, but: Sequence[tuple[str, datetime]] = ()) -> Firing | None:
    """A firing whose runs are over and which nobody else looks after now; held until the transaction ends."""
    rows = connection.execute(_ENDED)
    found = [Firing(**row) for row in rows.mappings()]
    return next((one for one in found if (one.schedule, one.slot) not in but), None)


def end(connection: sa.Connection, firing: Firing, recordings: int) -> None:
    """Note that a firing is done."""
    connection.execute(
        sa.text(
            "UPDATE firings SET state = 'done', recordings = :n, detail = '', ended_at = clock_timestamp() "
            "WHERE schedule = :name AND slot = :slot"
        ),
        {"n": recordings, "name": firing.schedule, "slot": firing.slot},
    )


def note(connection: sa.Connection, firing: Firing, detail: str) -> None:
    """Note why a firing is not done yet."""
    connection.execute(
        sa.text("UPDATE firings SET detail = :detail WHERE schedule = :name AND slot = :slot"),
        {"detail": detail[:_DETAIL_LIMIT].replace("\0", "\ufffd"), "name": firing.schedule, "slot": firing.slot},
    )


def firings_of(connection: sa.Connection, schedule: str | None = None, most: int = 20) -> list[Firing]:
    """The latest firings, of one schedule or of all, the newest first."""
    rows = connection.execute(
        sa.text(
            f"SELECT {_COLUMNS} FROM firings "  # noqa: S608 - names of ours
            "WHERE schedule = coalesce(cast(:name AS text), schedule) ORDER BY slot DESC, schedule LIMIT :most"
        ),
        {"name": schedule, "most": most},
    )
    found = [Firing(**row) for row in rows.mappings()]
    connection.rollback()
    return found


def last_firings(connection: sa.Connection) -> dict[str, tuple[Firing, int]]:
    """The latest firing of every schedule, and how many of its slots were skipped so far."""
    rows = connection.execute(
        sa.text(
            f"SELECT DISTINCT ON (schedule) {_COLUMNS}, "  # noqa: S608 - names of ours
            "(SELECT count(*) FROM firings f WHERE f.schedule = firings.schedule AND f.state = 'skipped') AS skipped "
            "FROM firings ORDER BY schedule, slot DESC"
        )
    )
    found: dict[str, tuple[Firing, int]] = {}
    for row in rows.mappings():
        values = dict(row)
        skipped = values.pop("skipped")
        found[values["schedule"]] = Firing(**values), skipped
    connection.rollback()
    return found


def spec_of(connection: sa.Connection, firing: Firing) -> dict[str, Any] | None:
    """What its run was asked for; None where the run is gone."""
    query = sa.text("SELECT spec FROM runs WHERE run_id = :run")
    return connection.execute(query, {"run": firing.run_id}).scalar_one_or_none()
