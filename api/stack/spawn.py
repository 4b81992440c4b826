"""Starting a process of the stack, so that it dies with the supervisor."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from api.stack.accounts import Account
from api.stack.logs import open_log
from passgrid.process import die_with_parent


def start_process(
    command: Sequence[str | Path],
    *,
    log: Path,
    death_signal: int,
    account: Account | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path = Path("/"),
    keep_open: Iterable[int] = (),
    umask: int = -1,
) -> subprocess.Popen[bytes]:
    """Start a child of this process and return it. Call it from the main thread only (see `die_with_parent`).

    The child gets `death_signal` when we die, runs in a process group of its own, out of reach of the user's Ctrl-C,
    and writes both its streams to the end of `log`. `account` is whom it runs as, None for ourselves; `keep_open` are
    file descriptors it inherits; `umask` -1 leaves ours.
    """
    with open_log(log) as stream:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            pass_fds=tuple(keep_open),
            process_group=0,
            umask=umask,
            preexec_fn=die_with_us(death_signal),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )


def die_with_us(death_signal: int) -> Callable[[], None]:
    """Return the `preexec_fn` of a child that dies with this process and neither blocks nor ignores signals."""
    return partial(_prepare, death_signal, os.getpid())


def _prepare(death_signal: int, parent: int) -> None:
    # A shell starts background jobs with SIGINT ignored, and exec keeps that: Postgres would miss a signal to end that
    # comes before it has set its own handlers. Likewise what the supervisor blocks.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    die_with_parent(death_signal, parent)


def has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether a child has ended, without reaping it: until somebody waits for it, its pid stays its own."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
