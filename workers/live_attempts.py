"""Live attempts on one event loop that runs in a thread of its own for as long as the process lives."""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import logging
import os
import threading
from collections.abc import Sequence

import sqlalchemy as sa
import uvloop

from passgrid.attempt import AttemptResult, AttemptRun, unrunnable
from passgrid.attempt_order import AttemptOrder
from passgrid.log_lines import log_context
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.warehouse.claims import Claim
from passgrid.warehouse.losses import give_up, hand_back
from passgrid.warehouse.results import Finished
from passgrid.warehouse.teardowns import want_teardowns
from workers.attribution import ATTEMPT, attributed_task, current_attempt, current_place
from workers.gate import AttemptGate, GateKeeper
from workers.late_sessions import LateSessions
from workers.leases import LeaseKeeper
from workers.naming import incarnation
from workers.orders import OrderBook
from workers.running import Running, RunningAttempts, run_cancelled
from workers.settings import WorkerSettings
from workers.suite_folder import SuiteFolders
from workers.watchdog import LoopWatch, Watchdog
from workers.writing import write_batch

log = logging.getLogger(__name__)

ENDED_BY_WATCHDOG = 75
"""Exit code of a process that ended itself because an attempt could not be interrupted."""


class LiveAttempts:
    """Runs attempts, any number at once; keeps their leases, their accounts, and an eye on them."""

    def __init__(self, settings: WorkerSettings, engine: sa.Engine, *, shared: bool) -> None:
        self._settings = settings
        self._engine = engine
        self._shared = shared
        self.name = incarnation()
        self.retired = False
        """Whether something here cannot be ended: no more attempts are begun beside it."""
        self._loop = uvloop.new_event_loop()
        self._loop.set_task_factory(attributed_task)
        self._thread = threading.Thread(target=self._loop.run_forever, name="attempts", daemon=True)
        self._thread.start()
        self._running = RunningAttempts()
        self._tasks: dict[int, concurrent.futures.Future[AttemptResult]] = {}
        self._leases = LeaseKeeper(engine, settings.lease_s, self._cancelled, self._lost)
        self._gates = GateKeeper(engine)
        self._orders = OrderBook(SuiteFolders())
        self._sessions = LateSessions() if shared else None
        self._orders_lock = threading.Lock()
        watchdog = Watchdog(self._running, self._overdue, settings.memory_mb, self._full)
        if shared:
            watchdog.watch_loop(LoopWatch(self._loop.call_soon_threadsafe, settings.blocked_s, self._blocked))
        watchdog.start()

    def run(self, claimed: Claim) -> None:
        """Run one attempt to its end and write its result; hand it back where the process stops meanwhile."""
        self._leases.hold([claimed])
        try:
            try:
                order = self._order(claimed)
            except (LookupError, ValueError) as error:
                write_batch(self._engine, [Finished(claimed, unrunnable(error))])
            else:
                self._run(claimed, order)
        finally:
            self._leases.release([claimed])

    def interrupt(self, patience_s: float) -> None:
        """Break off whatever runs; each attempt is handed back by who runs it, at the latest after `patience_s`."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        concurrent.futures.wait(tasks, patience_s)
        if self._sessions is not None:
            closing = asyncio.run_coroutine_threadsafe(self._sessions.close(), self._loop)
            concurrent.futures.wait([closing], patience_s)

    def _run(self, claimed: Claim, order: AttemptOrder) -> None:
        attempt = AttemptRun(order)
        self._running.begin(Running(claimed, attempt))
        ATTEMPT.set(claimed.key)
        with log_context(run=claimed.run_id, attempt=claimed.attempt_id, try_=claimed.fence):
            task = asyncio.run_coroutine_threadsafe(attempt.run(), self._loop)
        self._tasks[claimed.key] = task
        try:
            result = task.result()
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            result = None
        finally:
            self._tasks.pop(claimed.key, None)
            ours = self._running.end(claimed.key)
        self._gates.flush(self._settings.lease_s)
        if not ours:
            return  # the watchdog wrote its result, or its claim was lost
        if result is None:
            with self._engine.connect() as connection:
                hand_back(connection, [claimed], "its worker was told to stop")
        else:
            write_batch(self._engine, [Finished(claimed, result)])

    def _order(self, claimed: Claim) -> AttemptOrder:
        with self._orders_lock, self._engine.connect() as connection:
            self._orders.fetch(connection, [claimed])
            order = self._orders.order(claimed, AttemptGate(self._gates, claimed), self._sessions)
        if order.scenario.mcp_servers:
            # Here, in the thread that waits for the attempt: on the event loop it would keep all the others waiting.
            importlib.import_module("passgrid.tools.kept_sessions")
        return order

    def _cancelled(self, claims: Sequence[Claim]) -> None:
        for one in claims:
            if (running := self._running.find(one.key)) is not None:
                self._loop.call_soon_threadsafe(running.attempt.stop, run_cancelled())

    def _lost(self, claims: Sequence[Claim]) -> None:
        """Somebody else has these now: what is left of them here must not go on."""
        for one in claims:
            self._running.end(one.key)
            if (task := self._tasks.get(one.key)) is not None:
                task.cancel()

    def _blocked(self, seconds: float) -> None:
        self._end_because(f"kept its worker's event loop for {seconds:.0f} s")

    def _full(self, megabytes: float) -> None:
        """The process has more memory than it may."""
        if self._shared:
            self._end_because(f"ran when its worker had {megabytes:.0f} MB, of {self._settings.memory_mb} it may have")
        reason = f"its process had {megabytes:.0f} MB of {self._settings.memory_mb} it may have"
        outcome = Outcome(OutcomeKind.INFRA_ERROR, "memory", reason)
        for one in self._running.all():
            if self._running.end(one.claim.key):
                self._leave_behind(one, outcome)
        os._exit(ENDED_BY_WATCHDOG)

    def _end_because(self, what: str) -> None:
        """End the process: the attempt whose task runs now goes on in a process of its own, the others in another."""
        culprit = self._running.find(current_attempt(self._loop))
        place = current_place(self._thread.ident or 0)
        reason = f"attempt {culprit.claim.attempt_id if culprit else 'unknown'} {what}, at {place}"
        log.critical("%s; ending the process", reason)
        claims = [one.claim for one in self._running.all()]
        with self._engine.connect() as connection:
            if culprit is None:
                # Nobody can be named: a loss, so that each runs alone when it happens again.
                give_up(connection, claims, its_own_doing=False)
            else:
                hand_back(connection, [claimed for claimed in claims if claimed is not culprit.claim], reason)
                hand_back(connection, [culprit.claim], reason, alone=True)
        os._exit(ENDED_BY_WATCHDOG)

    def _overdue(self, one: Running) -> None:
        """An attempt does not end although it was cancelled: write what is known of it, and end what is left of it."""
        if not self._running.end(one.claim.key):
            return
        self._leave_behind(one, overdue_outcome(one))
        self._leases.release([one.claim])
        self.retired = True
        if not self._shared:
            os._exit(ENDED_BY_WATCHDOG)
        threading.Thread(target=self._end_when_empty, name="retiring", daemon=True).start()

    def _leave_behind(self, one: Running, outcome: Outcome) -> None:
        """Write what is known of an attempt that cannot end by itself, and have taken away what it made."""
        write_batch(self._engine, [Finished(one.claim, one.attempt.broken_off(outcome))])
        with self._engine.begin() as connection:
            want_teardowns(connection, [(one.claim.key, one.claim.fence)])

    def _end_when_empty(self) -> None:
        """End the process when the attempts beside the one that does not end are done."""
        while self._running.all():
            threading.Event().wait(0.2)
        self._gates.flush(self._settings.lease_s)
        log.critical("ending the process: an attempt in it could not be ended")
        os._exit(ENDED_BY_WATCHDOG)


def overdue_outcome(one: Running) -> Outcome:
    """How an attempt ended that had to be left behind at its limit."""
    if one.attempt.checking:
        return Outcome(OutcomeKind.INFRA_ERROR, "checks", f"its checks did not end within {one.seconds:.0f} s")
    return Outcome(OutcomeKind.LIMIT, LimitName.TIME, f"{one.limit_s:g} s are over, and it could not be interrupted")
