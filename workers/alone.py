"""Attempts that have to run alone: each in a process of its own, forked from one that has imported everything."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import FrameType

import sqlalchemy as sa

from passgrid.process import die_with_parent
from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.losses import give_up, hand_back
from workers.memory import BACKSTOP, limit_memory
from workers.naming import incarnation
from workers.settings import WorkerSettings
from workers.watchdog import die_with_any_thread

log = logging.getLogger(__name__)

NOBODY_KNOWS = 255
"""Exit code the library gives where the process that forked a child is gone."""
MOST = 2
"""Such processes at once beside a shared one."""


class AloneRunner:
    """Claims attempts that have to run alone, and waits for the processes that run them."""

    def __init__(self, settings: WorkerSettings, engine: sa.Engine) -> None:
        self._settings = settings
        self._engine = engine
        self._places = threading.BoundedSemaphore(MOST)
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["workers.live_attempts"])
        self._children: set[ForkServerProcess] = set()

    def run_one(self) -> bool:
        """Run one such attempt to its end. False where none waits, or enough of them run."""
        if not self._places.acquire(blocking=False):
            return False
        try:
            name = f"{incarnation()}:alone"
            with self._engine.connect() as connection:
                claims = claim(
                    connection, queue="live", worker=name, most=1, lease_s=self._settings.lease_s, alone=True
                )
            if not claims:
                return False
            self._run(claims[0])
            return True
        finally:
            self._places.release()

    def stop(self) -> None:
        """Have the attempts that run handed back."""
        for child in list(self._children):
            child.terminate()

    def _run(self, claimed: Claim) -> None:
        child = self._context.Process(target=_run_alone, args=(self._settings, claimed), name="alone")
        try:
            child.start()
            self._children.add(child)
            child.join()
        except (EOFError, OSError) as error:
            self._hand_back(claimed, f"its process could not be started: {error}")
            return
        finally:
            self._children.discard(child)
        if not child.exitcode:
            return
        log.error("attempt %s ended its process with %s", claimed.attempt_id, child.exitcode)
        with self._engine.connect() as connection:
            give_up(connection, [claimed], its_own_doing=child.exitcode != NOBODY_KNOWS)

    def _hand_back(self, claimed: Claim, reason: str) -> None:
        with self._engine.connect() as connection:
            hand_back(connection, [claimed], reason)


def _run_alone(settings: WorkerSettings, claimed: Claim) -> None:
    """The process's whole life."""
    from workers.live_attempts import LiveAttempts

    die_with_parent()
    die_with_any_thread()
    limit_memory(settings.memory_mb, times=BACKSTOP)
    engine = make_engine(settings.database_url, idle_s=settings.lease_s)

    def stop(number: int, frame: FrameType | None) -> None:
        with engine.connect() as connection:
            hand_back(connection, [claimed], "its worker was told to stop")
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    LiveAttempts(settings, engine, shared=False).run(claimed)
    os._exit(0)
