"""A replay process: takes small batches of attempts and runs them one after the other, sealed off from the world."""

from __future__ import annotations

import functools
import logging
import os
import time
from collections.abc import Sequence

import sqlalchemy as sa
import uvloop

from passgrid.attempt import AttemptResult, AttemptRun, unrunnable
from passgrid.log_lines import log_context
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.sealing import sealed
from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.losses import hand_back
from passgrid.warehouse.results import Finished
from workers.leases import LeaseKeeper
from workers.live_attempts import ENDED_BY_WATCHDOG, overdue_outcome
from workers.naming import incarnation
from workers.orders import OrderBook
from workers.running import Running, RunningAttempts, run_cancelled
from workers.settings import WorkerSettings, worker_settings
from workers.stopping import STOPPING
from workers.watchdog import Watchdog
from workers.writing import write_batch

log = logging.getLogger(__name__)

TURN_SECONDS = 5.0
"""How long one hint keeps a process busy before it looks at the broker again."""


class ReplayProcess:
    """One worker process: its database connections, its event loop and its caches live as long as it does."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._engine = make_engine(settings.database_url, idle_s=settings.lease_s)
        self._leases = LeaseKeeper(self._engine, settings.lease_s, self._cancel)
        self._orders = OrderBook()
        self._loop = uvloop.new_event_loop()
        self._name = incarnation()
        self._running = RunningAttempts()
        self._batch: list[Claim] = []
        self._cancelled: set[int] = set()
        self._finished: list[Finished] = []
        Watchdog(self._running, self._overdue, settings.memory_mb, self._full).start()

    def work(self) -> int:
        """Claim and run batches until nothing is queued, the turn is over, or the process stops.

        Returns how many attempts it ran.
        """
        done = 0
        until = time.monotonic() + TURN_SECONDS
        with self._engine.connect() as connection:
            while time.monotonic() < until and not STOPPING.is_set():
                claims = self._claim(connection) or self._claim(connection, alone=True)
                if not claims:
                    break
                self._run_batch(connection, claims)
                done += len(claims)
        return done

    def _claim(self, connection: sa.Connection, *, alone: bool = False) -> list[Claim]:
        return claim(
            connection,
            queue="replay",
            worker=self._name,
            most=1 if alone else self._settings.batch,
            lease_s=self._settings.lease_s,
            share=self._settings.replay_processes,
            alone=alone,
        )

    def _run_batch(self, connection: sa.Connection, claims: list[Claim]) -> None:
        self._batch, self._finished, self._cancelled = list(claims), [], set()
        self._leases.hold(claims)
        try:
            self._orders.fetch(connection, claims)
            for one in claims:
                if STOPPING.is_set():
                    break
                self._finished.append(Finished(one, self._run(one)))
            write_batch(self._engine, self._finished)
            self._hand_back(connection, claims[len(self._finished) :], "its worker was told to stop")
        finally:
            self._leases.release(claims)

    def _run(self, claimed: Claim) -> AttemptResult:
        try:
            order = self._orders.order(claimed)
        except (LookupError, ValueError) as error:
            return unrunnable(error)
        attempt = AttemptRun(order)
        self._running.begin(Running(claimed, attempt))
        if claimed.key in self._cancelled:
            attempt.stop(run_cancelled())
        try:
            with sealed(), log_context(run=claimed.run_id, attempt=claimed.attempt_id, try_=claimed.fence):
                return self._loop.run_until_complete(attempt.run())
        finally:
            if not self._running.end(claimed.key):
                time.sleep(60)  # the watchdog ends the process at this moment

    def _cancel(self, claims: Sequence[Claim]) -> None:
        self._cancelled |= {one.key for one in claims}
        for one in claims:
            if (running := self._running.find(one.key)) is not None:
                self._loop.call_soon_threadsafe(running.attempt.stop, run_cancelled())

    def _hand_back(self, connection: sa.Connection, claims: Sequence[Claim], reason: str) -> None:
        if claims:
            hand_back(connection, claims, reason)

    def _overdue(self, one: Running) -> None:
        """An attempt cannot be interrupted."""
        self._end_because(one, overdue_outcome(one))

    def _full(self, megabytes: float) -> None:
        """The process has more memory than it may."""
        reason = f"its process had {megabytes:.0f} MB of {self._settings.memory_mb} it may have"
        for one in self._running.all():
            self._end_because(one, Outcome(OutcomeKind.INFRA_ERROR, "memory", reason))

    def _end_because(self, one: Running, outcome: Outcome) -> None:
        """Write what there is, hand back the rest of the batch, end the process."""
        if not self._running.end(one.claim.key):
            return
        finished = [*self._finished, Finished(one.claim, one.attempt.broken_off(outcome))]
        write_batch(self._engine, finished)
        keys = {done.claim.key for done in finished}
        with self._engine.connect() as connection:
            rest = [claimed for claimed in self._batch if claimed.key not in keys]
            self._hand_back(connection, rest, f"attempt {one.claim.attempt_id}: {outcome.reason}")
        os._exit(ENDED_BY_WATCHDOG)


@functools.cache
def replay_process() -> ReplayProcess:
    """This process's own; made at its first task, after the fork."""
    return ReplayProcess(worker_settings())
