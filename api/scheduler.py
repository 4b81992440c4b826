"""The scheduler: keeps a bounded window of hints in the broker, frees lost attempts, finishes runs.

It holds no state of its own: everything it does follows from Postgres and the length of the queues, so it can be
killed, doubled or started late without harm.
"""

from __future__ import annotations

import logging
import os
import signal
import time

import psycopg
from sqlalchemy.exc import InternalError, OperationalError

from api.broker import QUEUES, Hints
from api.provider_watch import ProviderWatch, provider_file
from api.run_tracing import RunTraces
from passgrid.log_lines import configure_logging
from passgrid.tracing.sending import send_the_rest
from passgrid.warehouse.claims import queued
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.heartbeats import Heartbeat
from passgrid.warehouse.losses import reap
from passgrid.warehouse.progress import finish_runs
from passgrid.warehouse.submission import WORK_CHANNEL

log = logging.getLogger(__name__)

TICK_SECONDS = 0.25
"""How often it looks when nobody notifies it."""
IDLE_SECONDS = 15.0
"""After so long Postgres takes back what a scheduler holds that stands still."""
WINDOW = {"replay": 8, "live": 64}
"""Most hints in the broker, by queue."""
ATTEMPTS_PER_HINT = {"replay": 4, "live": 1}
"""A replay worker takes several attempts for one hint, so fewer are needed."""


class Scheduler:
    """One tick after the other."""

    def __init__(self, database_url: str, broker_url: str) -> None:
        self._engine = make_engine(database_url, idle_s=IDLE_SECONDS)
        self._hints = Hints(broker_url)
        self._listener = _Listener(database_url)
        self._heartbeat = Heartbeat("scheduler")
        self._traces = RunTraces()
        self._providers = ProviderWatch(self._engine, provider_file())
        self.stopping = False

    def run(self) -> None:
        """Until told to stop; a database or broker that is away is waited for."""
        while not self.stopping:
            try:
                self.tick()
                self._listener.wait(TICK_SECONDS)
            except (OperationalError, InternalError, psycopg.OperationalError, OSError, *_broker_errors()) as error:
                log.warning("database or broker away, again in a second: %s", error)
                self._listener.close()
                self._hints.close()
                time.sleep(1)

    def tick(self) -> None:
        """Free what was lost, send hints for what waits, finish what is done."""
        self._providers.look()
        with self._engine.connect() as connection:
            freed = reap(connection)
            if freed:
                log.warning("%d attempts lost their worker and are queued again", freed)
            for queue in QUEUES:
                window, per_hint = WINDOW[queue], ATTEMPTS_PER_HINT[queue]
                waiting = queued(connection, queue, window * per_hint)
                if waiting:
                    wanted = min(window, -(-waiting // per_hint))
                    self._hints.send(queue, max(0, wanted - self._hints.waiting(queue)))
            for run_id in finish_runs(connection):
                log.info("run %s is done", run_id)
            self._traces.look(connection)
            self._heartbeat.beat_if_due(connection)


class _Listener:
    """Waits for a notification that there is work."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url.replace("postgresql+psycopg://", "postgresql://")
        self._connection: psycopg.Connection | None = None

    def wait(self, seconds: float) -> None:
        """Return at the first notification, or after `seconds`."""
        if self._connection is None:
            self._connection = psycopg.connect(self._url, autocommit=True)
            self._connection.execute(f"LISTEN {WORK_CHANNEL}")
        for _ in self._connection.notifies(timeout=seconds, stop_after=1):
            pass

    def close(self) -> None:
        """Forget the connection; the next wait makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _broker_errors() -> tuple[type[Exception], ...]:
    from kombu.exceptions import OperationalError
    from redis.exceptions import RedisError

    return OperationalError, RedisError


def main() -> None:
    """Run one scheduler on the addresses in the environment."""
    configure_logging()
    scheduler = Scheduler(os.environ["PASSGRID_DATABASE_URL"], os.environ["PASSGRID_BROKER_URL"])

    def stop(*_: object) -> None:
        scheduler.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    scheduler.run()
    send_the_rest()


if __name__ == "__main__":
    main()
