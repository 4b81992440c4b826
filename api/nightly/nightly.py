"""What is done at each tick: due slots are fired, and recordings of runs that are over are written.

It may be killed at any moment, and doubled: Postgres decides on every slot once, together with its runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from api.recordings import collect_recordings
from api.submission import library_folder, plan_request
from passgrid.cassettes.format import BrokenCassette
from passgrid.library import find_suite
from passgrid.plan import Plan
from passgrid.problems import InvalidInput
from passgrid.request import Request
from passgrid.schedules.cron import next_slots
from passgrid.schedules.due import DueSlot, due_slots
from passgrid.schedules.schedule_file import Schedule
from passgrid.warehouse.firings import Firing, Slot, end, fire, note, pass_over, slots_since, spec_of, take_ended

log = logging.getLogger(__name__)

PATIENCE = timedelta(minutes=5)
"""After so long recordings that could not be written are tried again."""


class Nightly:
    """One process's part in it. What it keeps only saves questions: all it knows is in Postgres and the file."""

    def __init__(self, engine: sa.Engine, plan: Callable[[Request], Plan] = plan_request) -> None:
        self._engine = engine
        self._plan = plan
        self._since: dict[str, tuple[str, datetime]] = {}
        self._put_off: dict[tuple[str, datetime], datetime] = {}

    def tick(self, schedules: Mapping[str, Schedule], now: datetime) -> None:
        """Fire what is due, and finish what is over. Raises what the database raises."""
        self.fire_due(schedules, now)
        self.finish(now)

    def fire_due(self, schedules: Mapping[str, Schedule], now: datetime) -> None:
        """Decide on every slot that is due."""
        for name, schedule in schedules.items():
            for due in self._due(name, schedule, now):
                self._decide(name, schedule, due, now)

    def run_now(self, name: str, schedule: Schedule, now: datetime) -> Slot:
        """Fire a schedule outside of its slots, under a label of its own. Raises `InvalidInput`."""
        moment = now.replace(microsecond=0)
        local = moment.astimezone(schedule.zone)
        slot = Slot(name, moment, f"{schedule.label_of(name, moment)}-now-{local:%H%M%S}", manual=True)
        self._fire(schedule, slot, now)
        return slot

    def finish(self, now: datetime) -> None:
        """Write the recordings of firings whose runs are over."""
        while True:
            waiting = [key for key, until in self._put_off.items() if until > now]
            with self._engine.begin() as connection:
                firing = take_ended(connection, waiting)
                if firing is None:
                    return
                try:
                    with connection.begin_nested():
                        end(connection, firing, self._record(connection, firing) if firing.record else 0)
                except (OSError, BrokenCassette, InvalidInput, LookupError) as error:
                    log.warning("%s: its recordings cannot be written: %s", firing.label, error)
                    note(connection, firing, f"its recordings cannot be written, and are tried again: {error}")
                    self._put_off[firing.schedule, firing.slot] = now + PATIENCE

    def next_slot(self, schedules: Mapping[str, Schedule], now: datetime) -> datetime | None:
        """When something is due next."""
        return min((next_slots(one.parsed, one.zone, now, 1)[0] for one in schedules.values()), default=None)

    def _due(self, name: str, schedule: Schedule, now: datetime) -> Iterator[DueSlot]:
        known = self._since.get(name)
        if known is not None and known[0] == schedule.slots_text and not any(due_slots(schedule, known[1], now)):
            return
        with self._engine.connect() as connection:
            since = slots_since(connection, name, schedule.slots_text, now)
        self._since[name] = schedule.slots_text, since
        for due in due_slots(schedule, since, now):
            yield due
            self._since[name] = schedule.slots_text, due.slot

    def _decide(self, name: str, schedule: Schedule, due: DueSlot, now: datetime) -> None:
        slot = Slot(name, due.slot, schedule.label_of(name, due.slot))
        if due.skipped_because:
            if pass_over(self._engine, slot, "skipped", due.skipped_because, now):
                log.warning("schedule %s: its slot of %s is skipped: %s", name, due.slot, due.skipped_because)
            return
        try:
            if self._fire(schedule, slot, now):
                log.info("schedule %s: its slot of %s is fired as %s", name, due.slot, slot.label)
        except (InvalidInput, OSError) as error:
            log.error("schedule %s: its slot of %s cannot be fired: %s", name, due.slot, error)
            pass_over(self._engine, slot, "failed", str(error), now)

    def _fire(self, schedule: Schedule, slot: Slot, now: datetime) -> bool:
        main, drift = schedule.requests(slot.label)
        return fire(self._engine, slot, self._plan(main), self._plan(drift) if drift else None, now)

    def _record(self, connection: sa.Connection, firing: Firing) -> int:
        """Cassettes under a label of the firing's own: those of its models, which others replay, stay as they are."""
        spec = spec_of(connection, firing)
        if spec is None or firing.run_id is None:
            return 0
        folders = [find_suite(reference, library_folder()) for reference in spec["suites"]]
        by_name: dict[str, Path] = {folder.name: folder for folder in folders}
        return collect_recordings(connection, firing.run_id, by_name, lambda label: recorded_label(label, firing.label))


def recorded_label(model_label: str, label: str) -> str:
    """What the recordings of a model in one firing are called."""
    return f"{model_label}.{label}"
