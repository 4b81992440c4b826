"""The memory ceiling of a worker process."""

from __future__ import annotations

import resource


def limit_memory(megabytes: int) -> None:
    """Let this process, and each it starts, have so much data: what asks for more gets a `MemoryError`."""
    ceiling = megabytes * 1_000_000
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        ceiling = min(ceiling, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, hard))
