"""What becomes of the slots of a schedule that are past and have no firing yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from passgrid.schedules.cron import slots
from passgrid.schedules.schedule_file import Schedule

IN_TIME = timedelta(minutes=15)
"""A slot that is older was missed: nobody was there at its time."""
MOST_CAUGHT_UP = 31
"""Of many missed slots, only the newest are caught up."""


@dataclass(frozen=True, slots=True)
class DueSlot:
    """A slot, and why it is not fired; empty where it is."""

    slot: datetime
    skipped_because: str = ""


def due_slots(schedule: Schedule, since: datetime, now: datetime) -> Iterator[DueSlot]:
    """The slots after `since` up to now, the oldest first: each is fired or skipped."""
    found = list(slots(schedule.parsed, schedule.zone, since, now))
    late = [slot for slot in found if now - slot > IN_TIME]
    too_many = set(late[:-MOST_CAUGHT_UP])
    for slot in found:
        if now - slot <= IN_TIME:
            yield DueSlot(slot)
        elif schedule.missed == "skip":
            yield DueSlot(slot, "missed: no scheduler was there at its time, and the schedule says skip")
        elif slot in too_many:
            yield DueSlot(slot, f"missed: only the newest {MOST_CAUGHT_UP} missed slots are caught up")
        else:
            yield DueSlot(slot)
