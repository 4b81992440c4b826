"""The live process: one event loop, many attempts in flight. Each Celery thread claims attempts and waits for them."""

from __future__ import annotations

import functools
import logging
import threading
import time

from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.engine import make_engine
from workers.alone import AloneRunner
from workers.live_attempts import LiveAttempts
from workers.settings import WorkerSettings, worker_settings
from workers.stopping import STOPPING

log = logging.getLogger(__name__)

TURN_SECONDS = 5.0
"""How long one hint keeps a slot busy before it looks at the broker again."""

INTERRUPT_SECONDS = 3.0
"""What broken off attempts have to close their servers."""


class LiveProcess:
    """One worker process: its attempts share an event loop, except for those that have to run alone."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._engine = make_engine(settings.database_url, pool_size=8, idle_s=settings.lease_s)
        self._attempts = LiveAttempts(settings, self._engine, shared=True)
        self._alone = AloneRunner(settings, self._engine)

    def work(self) -> int:
        """Claim and run attempts one at a time until nothing is queued, the turn is over, or the process stops."""
        done = 0
        until = time.monotonic() + TURN_SECONDS
        while time.monotonic() < until and not STOPPING.is_set() and not self._attempts.retired:
            if self._alone.run_one():
                done += 1
            elif claims := self._claim():
                self._attempts.run(claims[0])
                done += 1
            else:
                break
        return done

    def interrupt(self) -> None:
        """Have everything that runs handed back."""
        self._alone.stop()
        self._attempts.interrupt(INTERRUPT_SECONDS)

    def _claim(self) -> list[Claim]:
        with self._engine.connect() as connection:
            return claim(connection, queue="live", worker=self._attempts.name, most=1, lease_s=self._settings.lease_s)


@functools.cache
def _process() -> LiveProcess:
    return LiveProcess(worker_settings())


_first = threading.Lock()


def interrupt_live() -> None:
    """Break off what runs in this process, if anything ever did."""
    if _process.cache_info().currsize:
        _process().interrupt()


def live_process() -> LiveProcess:
    """This process's own; made at its first task. Many threads may ask at once."""
    with _first:
        return _process()
