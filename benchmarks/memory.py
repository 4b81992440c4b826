"""Memory of a process tree, sampled while something runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from pathlib import Path


class Peak:
    """The largest sum seen, in megabytes."""

    def __init__(self) -> None:
        self.mb = 0.0


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            found.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    return found


def tree(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children, todo = _children(), [pid]
    pids: list[int] = []
    while todo:
        pids.append(todo.pop())
        todo += children.get(pids[-1], [])
    return pids


def proportional_mb(pids: list[int]) -> float:
    """Their memory, shared pages counted once (PSS)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


@contextlib.contextmanager
def peak_of(pid: int, every_s: float = 1.0) -> Generator[Peak]:
    """Sample a process tree until the end of the block."""
    peak, done = Peak(), threading.Event()

    def sample() -> None:
        while not done.wait(every_s):
            peak.mb = max(peak.mb, proportional_mb(tree(pid)))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()
