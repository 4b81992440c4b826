"""Joining the stack: how every command gets its addresses, starting the stack if nobody has."""

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from api.stack.addresses import Addresses, external_addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.locks import UserLock, add_user, gate, set_held, supervisor_lock, supervisor_runs, try_lock
from api.stack.logs import last_lines, open_log
from api.stack.parts import Parts
from api.stack.python_command import python_environment, python_module
from api.stack.state import StackState, clear_state, read_state

TIMEOUT = 30.0
"""Seconds a command waits for the stack to be up, and likewise for an older one to be gone."""

_PAUSE = 0.005


@contextmanager
def joined_stack(home: Home | None = None, parts: Parts | None = None) -> Generator[Addresses]:
    """Be a user of the stack inside the block, starting it first if need be; yield its addresses.

    External addresses in the environment come first: they are checked, and nothing embedded starts. `parts` matters
    only if this call starts the stack. Raises StackError when it cannot be had.
    """
    external = external_addresses()
    if external is not None:
        from api.stack.reachable import check_reachable

        check_reachable(external)
        yield external
        return
    home = home or Home.from_environment()
    home.create()
    user = _enter(home, parts or Parts())
    try:
        yield _wait_until_up(home)
    finally:
        user.release()


def hold(home: Home | None = None, parts: Parts | None = None) -> Addresses:
    """Start the stack and keep it running until `release`, whether or not it has users; return its addresses.

    With external addresses there is nothing to hold. Raises StackError when the stack cannot be started.
    """
    home = home or Home.from_environment()
    with joined_stack(home, parts) as addresses:
        if addresses.embedded:
            with gate(home):
                set_held(home, True)
        return addresses


def release(home: Home | None = None, timeout: float = 60.0) -> bool:
    """Let go of the stack and end it, whoever uses it; return whether it was running, once it is gone.

    Raises StackError when it does not end in `timeout` seconds.
    """
    home = home or Home.from_environment()
    if not home.control.is_dir():
        return False
    with gate(home):
        set_held(home, False)
        if not supervisor_runs(home):
            return False
        pid = _supervisor_pid(home)
        with suppress(ProcessLookupError):  # it has ended of its own accord this very moment
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        with gate(home):
            if not supervisor_runs(home) or _supervisor_pid(home) != pid:
                return True
        time.sleep(_PAUSE)
    raise StackError(
        f"The stack of {home.root} does not end (process {pid}).", f"See {home.log('supervisor')}, or kill -9 {pid}."
    )


def _enter(home: Home, parts: Parts) -> UserLock:
    """Register as a user of a stack that will not end before we leave, starting one if there is none."""
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        with gate(home):
            lock = try_lock(supervisor_lock(home))
            if lock is not None:
                try:
                    clear_state(home)
                    _start_supervisor(home, parts, lock)
                    return add_user(home)  # in time: the supervisor cannot decide to end while we are in the gate
                finally:
                    os.close(lock)  # the supervisor has inherited it, and now is the only one to hold it
            state = read_state(home)
            if state is None or state.phase in ("starting", "up"):
                return add_user(home)
        time.sleep(_PAUSE)
    raise StackError(
        f"An older stack of {home.root} has not ended for {TIMEOUT:.0f} seconds.", f"See {home.log('supervisor')}."
    )


def _start_supervisor(home: Home, parts: Parts, lock: int) -> None:
    command = python_module("api.stack.supervisor", f"--home={home.root}", f"--lock={lock}", *parts.arguments())
    """Start the supervisor and return once it has detached itself from us, which is not yet when the stack is up."""
    import subprocess  # a command that finds the stack running is spared this import

    with open_log(home.log("supervisor")) as log:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home.root,
            env=python_environment() | {"PASSGRID_HOME": str(home.root)},
            pass_fds=(lock,),
            start_new_session=True,
        )
    if ended.returncode != 0:
        raise _failure(home, None)


def _supervisor_pid(home: Home) -> int:
    return int(supervisor_lock(home).read_text())


def _wait_until_up(home: Home) -> Addresses:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        state = read_state(home)
        if state and state.phase == "up" and state.addresses:
            return state.addresses
        with gate(home):
            running = supervisor_runs(home)
        if not running or (state and state.phase == "failed"):
            raise _failure(home, read_state(home))
        time.sleep(_PAUSE)
    raise StackError(
        f"The stack of {home.root} is not up after {TIMEOUT:.0f} seconds.",
        f"Perhaps Postgres recovers from a crash: see the logs in {home.logs}, or try again.",
    )


def _failure(home: Home, state: StackState | None) -> StackError:
    if state and state.phase == "failed":
        return StackError(state.reason, state.remedy)
    log = home.log("supervisor")
    return StackError(
        f"The supervisor ended before the stack was up; the end of {log}:\n{last_lines(log)}",
        "Try again; `passgrid doctor` looks for the cause.",
    )
