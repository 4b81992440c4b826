"""The memory of a worker process: what it has, and what it may have."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_STATM = Path("/proc/self/statm")

BACKSTOP = 2
"""The kernel refuses memory at so many times the ceiling: what grows faster than the watchdog looks."""


def used_mb() -> float:
    """Resident memory of this process in MB."""
    return int(_STATM.read_text().split()[1]) * _PAGE / 1e6


def limit_memory(megabytes: int, *, times: int = 1) -> None:
    """Let this process, and each it starts, have so much data: what asks for more gets a `MemoryError`."""
    ceiling = megabytes * 1_000_000 * times
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, hard))
