"""What a worker process is told through its environment."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Addresses and sizes of one worker host."""

    database_url: str
    broker_url: str
    replay_processes: int
    """Prefork processes for replay; CPU-bound, so one a core."""
    live_slots: int
    """Live attempts in flight in the live process."""
    batch: int
    """Replay attempts claimed at once."""
    lease_s: float
    """Seconds until a silent worker's attempts are given to others."""
    memory_mb: int = 4096
    """Data one process may have; what an attempt asks for beyond it is refused."""
    blocked_s: float = 10.0
    """Seconds an attempt may keep the event loop it shares with others."""
    grace_s: float = 5.0
    """Seconds that running attempts have left when the worker is told to stop."""


def worker_settings() -> WorkerSettings:
    """Read the environment. Raises `SystemExit` naming what is missing or no number."""
    missing = [name for name in ("PASSGRID_DATABASE_URL", "PASSGRID_BROKER_URL") if not os.environ.get(name)]
    if missing:
        raise SystemExit(f"set {' and '.join(missing)}: a worker needs to know its database and broker")
    return WorkerSettings(
        database_url=os.environ["PASSGRID_DATABASE_URL"],
        broker_url=os.environ["PASSGRID_BROKER_URL"],
        replay_processes=_number("PASSGRID_REPLAY_PROCESSES", os.cpu_count() or 2),
        live_slots=_number("PASSGRID_LIVE_SLOTS", 32),
        batch=_number("PASSGRID_REPLAY_BATCH", 16),
        lease_s=_number("PASSGRID_LEASE_SECONDS", 15),
        memory_mb=_number("PASSGRID_MEMORY_MB", 4096),
        blocked_s=_number("PASSGRID_BLOCKED_SECONDS", 10),
        grace_s=_number("PASSGRID_GRACE_SECONDS", 5),
    )


def _number(name: str, default: int) -> int:
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        raise SystemExit(f"{name} is {text!r}, not a whole number") from None
    if number < 1:
        raise SystemExit(f"{name} is {number}; it must be at least 1")
    return number
