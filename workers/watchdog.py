"""A thread that notices what an event loop cannot notice itself: that something blocks it, or does not end."""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
import time
from collections.abc import Callable

from workers.memory import used_mb
from workers.running import Running, RunningAttempts

log = logging.getLogger(__name__)

TICK_SECONDS = 0.25
OVERDUE_GRACE_SECONDS = 5.0
"""What an attempt may take to close its servers and run its checks after its limit."""
THREAD_DIED = 70
"""Exit code."""
FROZEN_SECONDS = 60.0
"""After so long without a turn of this thread the process is ended by a timer that needs no Python."""


class Watchdog:
    """Watches the attempts of one process."""

    def __init__(
        self,
        running: RunningAttempts,
        on_overdue: Callable[[Running], None],
        memory_mb: float,
        on_full: Callable[[float], None],
    ) -> None:
        """on_overdue: told of an attempt that does not end. on_full: told of MB beyond `memory_mb`."""
        self._running = running
        self._on_overdue = on_overdue
        self._memory_mb = memory_mb
        self._on_full = on_full
        self._told: set[tuple[int, int]] = set()
        self._loop_watch: LoopWatch | None = None

    def watch_loop(self, loop_watch: LoopWatch) -> None:
        """Watch an event loop too, that many attempts share."""
        self._loop_watch = loop_watch

    def start(self) -> None:
        """From now on."""
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def _run(self) -> None:
        while True:
            # A call into C that keeps the interpreter to itself stops this thread too.
            if _ENDS_PROCESS.is_set():
                faulthandler.dump_traceback_later(FROZEN_SECONDS, exit=True)
            time.sleep(TICK_SECONDS)
            if (used := used_mb()) > self._memory_mb:
                self._on_full(used)
            if self._loop_watch is not None:
                self._loop_watch.look()
            for one in self._running.all():
                place = (one.claim.key, one.claim.fence)
                if one.seconds > one.limit_s + OVERDUE_GRACE_SECONDS and place not in self._told:
                    self._told.add(place)
                    log.error(
                        "attempt %s does not end: %.0f s, its limit is %g s",
                        one.claim.attempt_id,
                        one.seconds,
                        one.limit_s,
                    )
                    self._on_overdue(one)


def die_with_any_thread() -> None:
    """From now on a thread of this process that dies takes it along: half a worker would keep what it holds."""
    threading.excepthook = _end_process
    _ENDS_PROCESS.set()


_ENDS_PROCESS = threading.Event()
"""Whether this process is a worker's own, and may be ended."""


def _end_process(ended: threading.ExceptHookArgs) -> None:
    log.critical("thread %s died; ending the process", ended.thread and ended.thread.name, exc_info=ended.exc_value)
    os._exit(THREAD_DIED)


class LoopWatch:
    """Sees whether an event loop still turns."""

    def __init__(
        self, beat: Callable[[Callable[[], None]], object], blocked_s: float, on_blocked: Callable[[float], None]
    ) -> None:
        """beat: has the loop call a function soon. on_blocked: called once, with the seconds it has not done so."""
        self._beat = beat
        self._blocked_s = blocked_s
        self._on_blocked = on_blocked
        self._last = self._looked = time.monotonic()
        self._told = False

    def look(self) -> None:
        """Called at every tick."""
        now = time.monotonic()
        # Where this thread had no turn either, the whole process stood still, and the loop is not to blame.
        self._last += max(0.0, now - self._looked - 2 * TICK_SECONDS)
        self._looked = now
        silent = now - self._last
        if silent > self._blocked_s and not self._told:
            self._told = True
            self._on_blocked(silent)
        self._beat(self._turned)

    def _turned(self) -> None:
        self._last = time.monotonic()
        self._told = False
