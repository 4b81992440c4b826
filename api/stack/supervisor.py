"""The process that holds the embedded stack of one PASSGRID_HOME: `python -m api.stack.supervisor`.

It is started by the first command that needs the stack (`api.stack.join`), which hands over the supervisor's lock; it
ends after its last user. Whoever kills it, all its processes end: they asked the kernel for that.
"""

import argparse
import logging
import os
import signal
import sys
import time
from pathlib import Path

from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.locks import gate, supervisor_lock, try_lock
from api.stack.orphans import adopt_orphans
from api.stack.parts import Parts
from api.stack.stack import Stack, StopRequested
from api.stack.state import StackState, clear_state, write_state

_log = logging.getLogger("supervisor")

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
"""Blocked, and waited for: so that none arrives in the middle of something."""


def main(arguments: list[str] | None = None) -> int:
    """Hold the stack until it is no longer needed; return the exit code."""
    options = _parser().parse_args(arguments)
    signal.pthread_sigmask(signal.SIG_SETMASK, SIGNALS)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a starter that ignores it would have us never see a child's end
    home = Home(options.home) if options.home else Home.from_environment()
    lock = _lock_by_hand(home) if options.lock is None else options.lock
    os.set_inheritable(lock, False)  # else every child would keep the lock of a dead supervisor
    if options.lock is None:
        _say_who_holds(lock, os.getpid())
    elif child := os.fork():
        _say_who_holds(lock, child)
        return 0  # the starter waits for this process only; the one that goes on is nobody's child
    adopt_orphans()
    return _supervise(home, Parts(options.migrate, options.runnable, options.services, options.grace), lock)


def _supervise(home: Home, parts: Parts, lock: int) -> int:
    since = time.time()
    _log.info("starting the stack of %s", home.root)
    try:
        Stack(home, parts, lock, since).run()
    except StopRequested:
        _log.info("stopped before it was up")
    except StackError as error:
        _log.error("%s", error)
        _report_failure(home, since, error)
        return 1
    except BaseException as error:
        _report_failure(home, since, StackError(f"{type(error).__name__}: {error}", f"See {home.log('supervisor')}."))
        raise
    # The state stays as it is, `ending`: without one, while we still hold the lock, we would pass for just started.
    _log.info("ended")
    return 0


def _report_failure(home: Home, since: float, error: StackError) -> None:
    """Leave word for the commands that wait for this stack."""
    if home.control.is_dir():  # else the home was deleted, and nobody can be waiting
        write_state(home, StackState("failed", os.getpid(), since, reason=error.problem, remedy=error.remedy))


def _lock_by_hand(home: Home) -> int:
    """Take the lock for a supervisor that was started by hand, and stays in the foreground."""
    home.create()
    with gate(home):
        lock = try_lock(supervisor_lock(home))
        if lock is None:
            raise StackError(f"A supervisor of {home.root} is running already.", "Stop it with `passgrid down`.")
        clear_state(home)
        return lock


def _say_who_holds(lock: int, pid: int) -> None:
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(pid).encode(), 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m api.stack.supervisor", description=__doc__)
    defaults = Parts()
    parser.add_argument("--home", type=Path, help="by default PASSGRID_HOME")
    parser.add_argument("--lock", type=int, help="inherited file descriptor of the supervisor's lock")
    parser.add_argument("--migrate", default=defaults.migrate)
    parser.add_argument("--runnable", default=defaults.runnable)
    parser.add_argument("--services", default=defaults.services)
    parser.add_argument("--grace", type=float, default=defaults.grace)
    return parser


if __name__ == "__main__":
    sys.exit(main())
