"""The live process: one event loop, many attempts in flight. Each Celery thread claims attempts and waits for them."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import socket
import threading
import time

import uvloop

from passgrid.attempt import run, unrunnable
from passgrid.attempt_order import AttemptOrder
from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.results import Finished
from workers.leases import LeaseKeeper
from workers.orders import OrderBook
from workers.settings import WorkerSettings, worker_settings
from workers.suite_folder import SuiteFolders
from workers.writing import write_batch

log = logging.getLogger(__name__)

TURN_SECONDS = 5.0
"""How long one hint keeps a slot busy before it looks at the broker again."""


class LiveProcess:
    """One worker process. The event loop runs in a thread of its own for as long as the process lives."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._engine = make_engine(settings.database_url, pool_size=8)
        self._leases = LeaseKeeper(self._engine, settings.lease_s)
        self._orders = OrderBook(SuiteFolders())
        self._orders_lock = threading.Lock()
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._loop = uvloop.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="attempts", daemon=True).start()

    def work(self) -> int:
        """Claim and run attempts one at a time until nothing is queued, or the turn is over."""
        done = 0
        until = time.monotonic() + TURN_SECONDS
        while time.monotonic() < until:
            with self._engine.connect() as connection:
                claims = claim(connection, queue="live", worker=self._name, most=1, lease_s=self._settings.lease_s)
            if not claims:
                break
            self._run(claims[0])
            done += 1
        return done

    def _run(self, claimed: Claim) -> None:
        self._leases.hold([claimed])
        try:
            try:
                order = self._order(claimed)
            except (LookupError, ValueError) as error:
                result = unrunnable(error)
            else:
                result = asyncio.run_coroutine_threadsafe(run(order), self._loop).result()
            write_batch(self._engine, [Finished(claimed, result)])
        finally:
            self._leases.release([claimed])

    def _order(self, claimed: Claim) -> AttemptOrder:
        with self._orders_lock, self._engine.connect() as connection:
            self._orders.fetch(connection, [claimed])
            return self._orders.order(claimed)


@functools.cache
def _process() -> LiveProcess:
    return LiveProcess(worker_settings())


_first = threading.Lock()


def live_process() -> LiveProcess:
    """This process's own; made at its first task. Many threads may ask at once."""
    with _first:
        return _process()
