"""The attempts a process runs at this moment."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from passgrid.aftermath.aftermath import AFTERMATH_SECONDS
from passgrid.attempt import AttemptRun
from passgrid.endings import AttemptStopped
from passgrid.scoring.judging import JUDGE_SECONDS
from passgrid.warehouse.claims import Claim

UNLIMITED_SECONDS = 3600.0
"""Where a scenario sets no limit: a process does not wait for ever for what cannot be interrupted."""


@dataclass(frozen=True)
class Running:
    """An attempt under way."""

    claim: Claim
    attempt: AttemptRun
    since: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.since

    @property
    def limit_s(self) -> float:
        """Its own limit on wall-clock time, and the time to look at what it did and to judge it."""
        scenario = self.attempt.order.scenario
        after = AFTERMATH_SECONDS if scenario.looks_afterwards else 0.0
        after += JUDGE_SECONDS if scenario.judge is not None else 0.0
        return (scenario.limits.seconds or UNLIMITED_SECONDS) + after


def run_cancelled() -> AttemptStopped:
    """How an attempt ends whose run was cancelled."""
    return AttemptStopped("", "the run was cancelled")


class RunningAttempts:
    """Those of one process; several threads look at it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[int, Running] = {}

    def begin(self, running: Running) -> None:
        """It runs from now on."""
        with self._lock:
            self._running[running.claim.key] = running

    def end(self, key: int) -> bool:
        """It runs no longer. False where somebody else ended it before: its result is not the caller's to write."""
        with self._lock:
            return self._running.pop(key, None) is not None

    def all(self) -> list[Running]:
        """What runs now."""
        with self._lock:
            return list(self._running.values())

    def find(self, key: int | None) -> Running | None:
        """The attempt of this key, where it runs here."""
        with self._lock:
            return None if key is None else self._running.get(key)
