"""File locks (flock) by which commands and the supervisor of one home find each other.

A lock ends with the process that holds it, however it dies. The files are never unlinked, but for those of users: who
locks a file that another process has just unlinked would be alone with it.
"""

import fcntl
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.stack.errors import StackError
from api.stack.home import Home

_PAUSE = 0.003
"""Seconds between two tries to get a lock."""


def try_lock(path: Path) -> int | None:
    """Lock a file if nobody else has; return the descriptor that holds the lock, else None."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def gate(home: Home, timeout: float = 30.0) -> Generator[None]:
    """Be the only process of this home that decides about joining, starting or ending; for moments only.

    Raises StackError when another process has not finished its own decision after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while (descriptor := try_lock(home.control / "gate")) is None:
        if time.monotonic() > deadline:
            raise StackError(
                f"Another command has held {home.control / 'gate'} for {timeout:.0f} seconds.",
                "Look for a stopped passgrid command (Ctrl-Z) and continue or end it.",
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        os.close(descriptor)


def supervisor_lock(home: Home) -> Path:
    """Return the file a supervisor holds locked for as long as it lives. Its content is the supervisor's pid."""
    return home.control / "supervisor.lock"


def supervisor_runs(home: Home) -> bool:
    """Tell whether a supervisor of this home lives. Call it inside the gate: trying the lock takes it for a moment."""
    descriptor = try_lock(supervisor_lock(home))
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


@dataclass(frozen=True)
class UserLock:
    """A process that uses the stack, as a file it holds locked."""

    path: Path
    descriptor: int

    def release(self) -> None:
        """Stop being a user."""
        self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


def add_user(home: Home) -> UserLock:
    """Register this process as a user of the stack. Call it inside the gate."""
    folder = _users(home)
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{os.getpid()}-{os.urandom(4).hex()}"
    descriptor = try_lock(path)
    if descriptor is None:
        raise StackError(f"{path} is locked by somebody else.", "Try again.")
    return UserLock(path, descriptor)


def living_users(home: Home) -> tuple[int, ...]:
    """Return the pids of the users, removing those that died. Call it inside the gate."""
    alive: list[int] = []
    for path in _users(home).iterdir() if _users(home).exists() else ():
        try:
            descriptor = try_lock(path)
        except FileNotFoundError:
            continue
        if descriptor is None:
            alive.append(int(path.name.split("-")[0]))
        else:
            path.unlink(missing_ok=True)
            os.close(descriptor)
    return tuple(sorted(alive))


def _users(home: Home) -> Path:
    return home.control / "users"


def is_held(home: Home) -> bool:
    """Tell whether `passgrid up` holds the stack."""
    return _held(home).exists()


def set_held(home: Home, held: bool) -> None:
    """Hold the stack, or let go of it. Call it inside the gate."""
    if held:
        _held(home).touch(mode=0o600)
    else:
        _held(home).unlink(missing_ok=True)


def _held(home: Home) -> Path:
    return home.control / "held"
