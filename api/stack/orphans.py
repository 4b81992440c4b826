"""Grandchildren whose parent died: the supervisor adopts them and ends them."""

import ctypes
import os
import signal
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent dies (Linux; elsewhere init takes them)."""
    if Path("/proc/self").exists():
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_orphans(ours: Collection[int]) -> bool:
    """Kill and reap the children of this process that are not in `ours`; tell whether there were any.

    A worker that is killed leaves the servers it had started, and Postgres its back ends. Those that take a moment to
    die, and the children they leave in turn, are found the next time.
    """
    orphans = [pid for pid in _children() if pid not in ours]
    for pid in orphans:
        with suppress(ProcessLookupError, ChildProcessError):  # somebody was faster
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, os.WNOHANG)
    return bool(orphans)


def _children() -> list[int]:
    try:
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except FileNotFoundError:
        return []  # not Linux, or a kernel without this list
