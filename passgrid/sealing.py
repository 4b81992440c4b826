"""While an attempt is replayed, nothing in the process can open a connection or start a program.

Recorded models and tools need neither; this holds for everything else that runs there, a suite's Python checks too.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from contextvars import ContextVar
from typing import Any

_FORBIDDEN = frozenset(
    {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen", "os.exec", "os.fork",
     "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"}
)  # fmt: skip

_sealed: ContextVar[bool] = ContextVar("passgrid_sealed", default=False)
_starting: ContextVar[bool] = ContextVar("passgrid_starting_agent", default=False)
_installed = False


class ReplayLeak(RuntimeError):
    """Something tried to reach the outside during a replay."""


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN and _sealed.get() and not (event == "subprocess.Popen" and _starting.get()):
        raise ReplayLeak(f"a replay reaches nothing outside: {event} was refused")


@contextlib.contextmanager
def sealed() -> Generator[None]:
    """Refuse connections and new processes in this context, and in all tasks started from it.

    The hook stays installed for the life of the process, as Python has it, and looks only at a few events.
    """
    global _installed
    if not _installed:
        sys.addaudithook(_refuse)
        _installed = True
    token = _sealed.set(True)
    try:
        yield
    finally:
        _sealed.reset(token)


@contextlib.contextmanager
def starting_agent() -> Generator[None]:
    """Let one program be started although an attempt is replayed: its agent, which is sealed off in another way.

    Only around the one call that starts it, in which no code of a suite runs.
    """
    token = _starting.set(True)
    try:
        yield
    finally:
        _starting.reset(token)
