"""Looking at processes from outside, as a test has to: no psutil, just /proc."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Process:
    """A process that once was there; its start time tells it from a later one with the same number."""

    pid: int
    started: int
    parent: int
    name: str

    @property
    def is_alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return process(self.pid) == self or _same(process(self.pid), self)


def _same(now: Process | None, then: Process) -> bool:
    return now is not None and now.started == then.started


def process(pid: int) -> Process | None:
    """Return the process with this pid, None when there is none or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, fields = stat[stat.index("(") + 1 : stat.rindex(")")], stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else Process(pid, int(fields[19]), int(fields[1]), name)


def tree(root: int) -> list[Process]:
    """Return a process with all its descendants."""
    everybody = [p for entry in Path("/proc").iterdir() if entry.name.isdigit() and (p := process(int(entry.name)))]
    found = [p for p in everybody if p.pid == root]
    for parent in found:
        found.extend(p for p in everybody if p.parent == parent.pid)
    return found


def alive(processes: Iterable[Process]) -> list[Process]:
    """Return those that still run."""
    return [p for p in processes if p.is_alive]


def eventually(look: Callable[[], _T], timeout: float = 15.0) -> _T:
    """Poll until `look` returns something true and return that; fail after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not (seen := look()):
        assert time.monotonic() < deadline, f"not so within {timeout} s: {look}"
        time.sleep(0.02)
    return seen
