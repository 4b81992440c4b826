"""A replay process: takes small batches of attempts and runs them one after the other, sealed off from the world."""

from __future__ import annotations

import functools
import logging
import os
import socket
import time

import sqlalchemy as sa
import uvloop

from passgrid.attempt import AttemptResult, run, unrunnable
from passgrid.sealing import sealed
from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.results import Finished
from workers.leases import LeaseKeeper
from workers.orders import OrderBook
from workers.settings import WorkerSettings, worker_settings
from workers.writing import write_batch

log = logging.getLogger(__name__)

TURN_SECONDS = 5.0
"""How long one hint keeps a process busy before it looks at the broker again."""


class ReplayProcess:
    """One worker process: its database connections, its event loop and its caches live as long as it does."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._engine = make_engine(settings.database_url)
        self._leases = LeaseKeeper(self._engine, settings.lease_s)
        self._orders = OrderBook()
        self._loop = uvloop.new_event_loop()
        self._name = f"{socket.gethostname()}:{os.getpid()}"

    def work(self) -> int:
        """Claim and run batches until nothing is queued, or the turn is over. Returns how many attempts it ran."""
        done = 0
        until = time.monotonic() + TURN_SECONDS
        with self._engine.connect() as connection:
            while time.monotonic() < until:
                claims = self._claim(connection)
                if not claims:
                    break
                self._run_batch(connection, claims)
                done += len(claims)
        return done

    def _claim(self, connection: sa.Connection) -> list[Claim]:
        return claim(
            connection,
            queue="replay",
            worker=self._name,
            most=self._settings.batch,
            lease_s=self._settings.lease_s,
            share=self._settings.replay_processes,
        )

    def _run_batch(self, connection: sa.Connection, claims: list[Claim]) -> None:
        self._leases.hold(claims)
        try:
            self._orders.fetch(connection, claims)
            write_batch(self._engine, [Finished(one, self._run(one)) for one in claims])
        finally:
            self._leases.release(claims)

    def _run(self, claimed: Claim) -> AttemptResult:
        try:
            order = self._orders.order(claimed)
        except (LookupError, ValueError) as error:
            return unrunnable(error)
        with sealed():
            return self._loop.run_until_complete(run(order))


@functools.cache
def replay_process() -> ReplayProcess:
    """This process's own; made at its first task, after the fork."""
    return ReplayProcess(worker_settings())
