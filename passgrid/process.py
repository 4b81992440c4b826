"""Dying with one's parent, so that a killed process leaves no children behind."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1

# Loaded here and not in the function: between fork and exec nothing may take a lock that another thread held.
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(death_signal: int = signal.SIGKILL, parent: int | None = None) -> None:
    """Ask the kernel to send this process `death_signal` as soon as its parent dies; Linux only, elsewhere nothing.

    Call it first thing in a child: in a `preexec_fn` (the setting survives exec, but not a change of user, so after
    that), or in a forked process. It is not inherited: each child of the child has to call it too. "Parent" means the
    *thread* that forked; children that must outlive it are started from the main thread.

    parent: the pid of the parent, if known. If it has died before this call, the process ends at once.
    Raises OSError when the kernel refuses.
    """
    if not sys.platform.startswith("linux"):
        return
    if _libc.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if parent is not None and os.getppid() != parent:
        os._exit(1)
