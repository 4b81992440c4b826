"""Celery beat with a scheduler of ours: `python -m api.nightly.beat`.

Beat keeps the time. What is due is decided in Postgres, so any number of beats may run, and any of them may be killed.
Matrices are checked and written by this process, which belongs to the control plane: no message can be lost on the way.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery, signals
from celery.beat import Scheduler
from sqlalchemy.exc import InternalError, OperationalError

from api.nightly.nightly import Nightly
from api.nightly.place import schedule_path
from passgrid.log_lines import configure_logging
from passgrid.problems import InvalidInput
from passgrid.schedules.schedule_file import Schedule, read_schedules
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.heartbeats import Heartbeat

log = logging.getLogger(__name__)

TICK_SECONDS = 2.0
IDLE_SECONDS = 60.0
"""After so long Postgres takes back what a beat holds that stands still."""

_Base: Any = Scheduler


class SlotScheduler(_Base):
    """Asks at each of beat's ticks which slots are due. It has no entries of Celery's own and keeps no file."""

    def __init__(self, app: Any, *, lazy: bool = False, **options: Any) -> None:
        _Base.__init__(self, app, schedule={}, lazy=lazy, **options)
        self._file = _ScheduleFile(schedule_path())
        if not lazy:
            self._engine = make_engine(os.environ["PASSGRID_DATABASE_URL"], idle_s=IDLE_SECONDS)
            self._nightly = Nightly(self._engine)
            self._heartbeat = Heartbeat("beat")

    def tick(self, *_: Any, **__: Any) -> float:
        """Decide on what is due; returns how long beat may sleep."""
        try:
            self._nightly.tick(self._file.schedules(), datetime.now(UTC))
            with self._engine.connect() as connection:
                self._heartbeat.beat_if_due(connection)
        except (OperationalError, InternalError, psycopg.OperationalError, OSError) as error:
            log.warning("database away, again in %g s: %s", TICK_SECONDS, error)
        return TICK_SECONDS


class _ScheduleFile:
    """The file's schedules, read again when it changes. While it is broken, those of before count."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._schedules: Mapping[str, Schedule] = {}

    def schedules(self) -> Mapping[str, Schedule]:
        """What it says now."""
        try:
            facts = self._path.stat()
            seen = (facts.st_mtime_ns, facts.st_size)
        except OSError:
            seen = (0, 0)
        if seen != self._seen:
            self._seen = seen
            try:
                self._schedules = read_schedules(self._path)
                log.info("%d schedules in %s", len(self._schedules), self._path)
            except InvalidInput as error:
                log.error("the schedules of before go on: %s", error)
        return self._schedules


def _keep_our_logging(**_: Any) -> None:
    logging.getLogger("celery").setLevel(logging.WARNING)


def main() -> None:
    """Run one beat on the addresses in the environment."""
    configure_logging()
    missing = [name for name in ("PASSGRID_DATABASE_URL",) if not os.environ.get(name)]
    if missing:
        raise SystemExit(f"set {missing[0]}: beat needs to know its database")
    app: Any = Celery("passgrid-beat", broker=os.environ.get("PASSGRID_BROKER_URL"))
    # Celery sets up no logging where somebody is connected here: ours stays.
    setting_up: Any = signals.setup_logging
    setting_up.connect(_keep_our_logging)
    app.conf.update(worker_hijack_root_logger=False, worker_redirect_stdouts=False)
    beat = app.Beat(scheduler_cls=SlotScheduler, quiet=True, loglevel="WARNING", max_interval=TICK_SECONDS)
    beat.run()


if __name__ == "__main__":
    main()
