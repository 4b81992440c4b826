"""One process that the supervisor keeps running: started, seen to die, started again, stopped."""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from api.stack.errors import StackError
from api.stack.spawn import has_exited
from api.stack.state import ServiceState

_log = logging.getLogger(__name__)

LONGEST_DELAY = 5.0
"""Seconds between two starts of a process that keeps dying."""

_FIRST_DELAY = 0.1
_STABLE_AFTER = 10.0
"""Seconds a process has to live for its next death to count as the first again."""


@dataclass
class Child:
    """A process to keep running, and how often that failed."""

    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    stop_signal: int = signal.SIGTERM
    urgent_signal: int = signal.SIGKILL
    """Sent to one that does not heed `stop_signal`."""
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    deaths_in_a_row: int = 0
    _started: float = 0.0
    _due: float = 0.0

    def launch(self) -> subprocess.Popen[bytes]:
        """Start the process. Raises StackError or OSError when that is impossible."""
        self._started = time.monotonic()
        self.process = self.start()
        return self.process

    def tend(self) -> bool:
        """Notice that it died, and start it again when its delay is over; tell whether anything changed."""
        if self.process is not None:
            if not has_exited(self.process):
                return False
            self._bury(self.process)
            return True
        if time.monotonic() < self._due:
            return False
        try:
            self.launch()
        except (StackError, OSError) as error:
            _log.error("%s cannot be started: %s", self.name, error)
            self._count_death()
            return False
        self.restarts += 1
        return True

    def signal(self, number: int) -> None:
        """Send a signal, if there is a process to get it."""
        if self.process is not None and not has_exited(self.process):
            os.kill(self.process.pid, number)

    def finish(self) -> None:
        """End what is left of it and its process group at once, and reap it."""
        if self.process is not None:
            if not has_exited(self.process):
                self.process.kill()
            _kill_group(self.process.pid)
            self.process.wait()
            self.process = None

    @property
    def is_running(self) -> bool:
        """Whether it has a process that has not ended."""
        return self.process is not None and not has_exited(self.process)

    @property
    def state(self) -> ServiceState:
        """What `passgrid status` shows of it."""
        return ServiceState(self.name, self.process.pid if self.process else None, self.restarts)

    def _bury(self, process: subprocess.Popen[bytes]) -> None:
        _kill_group(process.pid)  # before reaping: until then nobody else can get this number
        code = process.wait()
        self.process = None
        if time.monotonic() - self._started > _STABLE_AFTER or code == -signal.SIGKILL:
            self.deaths_in_a_row = 0  # nobody kills itself like that: waiting longer would not help
        self._count_death()
        _log.warning("%s (process %d) ended with %d; starting it again", self.name, process.pid, code)

    def _count_death(self) -> None:
        self.deaths_in_a_row += 1
        self._due = time.monotonic() + min(LONGEST_DELAY, _FIRST_DELAY * 2 ** min(self.deaths_in_a_row - 1, 10))


def _kill_group(leader: int) -> None:
    """Kill what a process left behind in its group; the leader itself has ended, but is not reaped yet."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nothing is left but the leader


def stop_all(children: list[Child], patience: float) -> None:
    """Stop these together: gently, and after `patience` seconds firmly."""
    for child in children:
        child.signal(child.stop_signal)
    if not _ended(children, patience):
        for child in children:
            if child.is_running:
                _log.warning("%s did not end within %.0f s", child.name, patience)
                child.signal(child.urgent_signal)
        _ended(children, 3)
    for child in children:
        child.finish()


def _ended(children: list[Child], patience: float) -> bool:
    deadline = time.monotonic() + patience
    while any(child.is_running for child in children):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
