"""The root spans of runs, from the scheduler: workers send what lies below them."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta

import sqlalchemy as sa

from passgrid.tracing.sending import send, tracing_wanted
from passgrid.warehouse.traced import database_time, ended_runs

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
LOOK_BACK = timedelta(minutes=1)
"""How far a scheduler that starts looks back: runs may have ended while there was none. The same span twice is one."""


class RunTraces:
    """Sends the span of every run that ends, however it ends."""

    def __init__(self) -> None:
        self._since: datetime | None = None
        self._next = 0.0

    def look(self, connection: sa.Connection) -> None:
        """Send spans of the runs that ended since the last look; at most once a second, and only with a collector."""
        if not tracing_wanted() or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + LOOK_SECONDS
        from passgrid.tracing.spans import run_span

        if self._since is None:
            self._since = database_time(connection) - LOOK_BACK
        for ended_at, run in ended_runs(connection, self._since):
            send([run_span(run)])
            self._since = ended_at
        connection.rollback()
