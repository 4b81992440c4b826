"""What a killed Postgres leaves behind, and when it is safe to remove it.

Postgres itself refuses to start when the pid in its lock files is alive, and after a restart of the machine or
container that pid may well belong to somebody else. Removing the file while a process of the old server still writes
would ruin the data. So: wait until no process sits in the data folder any more, then remove the files.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from api.stack.errors import StackError

_PATIENCE = 12.0
"""Seconds an old server may take to end: a fast shutdown writes a checkpoint."""


def clear_leftovers(data: Path, socket_folder: Path) -> None:
    """Remove lock files and socket of a server that was killed, once its processes are gone.

    Old processes get some seconds to end, then SIGQUIT (Postgres ends at once and recovers at the next start).
    Raises StackError when one survives even that. Without /proc (not Linux), Postgres's own checks decide.
    """
    lock = data / "postmaster.pid"
    socket = socket_folder / ".s.PGSQL.5432"
    socket_lock = socket_folder / ".s.PGSQL.5432.lock"
    if not Path("/proc/self").exists() or not (lock.exists() or socket_lock.exists()):
        return
    _outwait(data, socket_lock)
    for leftover in (lock, socket_lock, socket):
        leftover.unlink(missing_ok=True)


def _outwait(data: Path, socket_lock: Path) -> None:
    begun = time.monotonic()
    signalled = False
    while remaining := _processes_in(data) | _server_of(socket_lock):
        waited = time.monotonic() - begun
        if waited > _PATIENCE + 3:
            raise StackError(
                f"An older Postgres still uses {data}: process {', '.join(map(str, sorted(remaining)))}.",
                f"End it with: kill -QUIT {min(remaining)}",
            )
        if waited > _PATIENCE and not signalled:
            signalled = True
            for pid in remaining:
                _signal(pid, signal.SIGQUIT)
        time.sleep(0.02)


def _processes_in(folder: Path) -> set[int]:
    """Return the processes of Postgres whose current folder this is: all those of a server work in its data folder."""
    place = folder.stat()
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and _is_postgres(int(entry.name)):
            try:
                current = (entry / "cwd").stat()
            except OSError:
                continue  # it has ended meanwhile
            if (current.st_dev, current.st_ino) == (place.st_dev, place.st_ino):
                found.add(int(entry.name))
    return found


def _server_of(socket_lock: Path) -> set[int]:
    """Return the process that a socket's lock file names, if that is a living Postgres.

    It works in another data folder than ours when PASSGRID_HOME was deleted under it and created anew.
    """
    try:
        pid = abs(int(socket_lock.read_text().split()[0]))
    except (FileNotFoundError, ValueError, IndexError):
        return set()  # none, or one whose writing was cut short
    return {pid} if _is_postgres(pid) else set()


def _is_postgres(pid: int) -> bool:
    """Tell whether this process runs Postgres, as far as we may know: processes of other users are none of ours."""
    try:
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return Path(program.removesuffix(" (deleted)")).name == "postgres"


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
