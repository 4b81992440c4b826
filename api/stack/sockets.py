"""The private folder of the sockets.

The path of a Unix socket ends at 107 bytes, and PASSGRID_HOME can be longer than that: the sockets lie in a short
folder named after its hash, below XDG_RUNTIME_DIR or else the temporary folder.

Layout: `private/` (ours, 0700) has the sockets of Valkey and the HTTP API, `postgres/` (0700) that of Postgres. For
root, `postgres/` belongs to the account Postgres runs as; root connects all the same, and nobody else gets in.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from api.stack.accounts import Account, can_enter, server_account
from api.stack.errors import StackError

LONGEST_PATH = 107
"""Bytes a socket path may have on Linux (it is 103 on macOS, where the temporary folder is short enough)."""

_LONGEST_NAME = "postgres/.s.PGSQL.5432"
_PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")


def choose_socket_folder(root: Path) -> Path:
    """Return the folder for the sockets of the installation at `root`; nothing is created.

    Raises StackError when no temporary folder is usable: too long a path, or one that others may tamper with.
    """
    account = server_account()
    name = f"passgrid-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"
    places = _places()
    for place in places:
        folder = place / name
        if _is_usable(place, account) and len(os.fsencode(folder / _LONGEST_NAME)) <= LONGEST_PATH:
            return folder
    raise StackError(
        f"No folder is fit for the sockets (looked at {', '.join(map(str, places))}).",
        f"Set TMPDIR to a folder you can write to, owned by you or root, shorter than {LONGEST_PATH - 50} characters.",
    )


def create_socket_folder(folder: Path, account: Account | None) -> None:
    """Create the folder and its parts. Raises StackError when it exists and is not ours: somebody may have planted it.

    `account` is whom Postgres runs as, None for ourselves.
    """
    _create_private(folder, 0o711 if account else 0o700)
    _create_private(folder / "private", 0o700)
    postgres = folder / "postgres"
    if account is None:
        _create_private(postgres, 0o700)
    else:
        postgres.mkdir(mode=0o700, exist_ok=True)  # nobody but root writes in `folder`: no need to distrust this one
        os.chown(postgres, account.uid, account.gid)


@contextmanager
def claimed_socket_folder(folder: Path, account: Account | None, timeout: float = 20.0) -> Generator[None]:
    """Have the folder to ourselves while the stack runs, and remove it afterwards with everything in it.

    It is locked, which keeps away cleaners of temporary files (systemd's spares what is locked), and the next stack
    of a home that was deleted under the previous one. Sockets that a killed stack left in its private part are removed.
    Raises StackError when another stack has not left it after `timeout` seconds.
    """
    descriptor = _lock_folder(folder, account, time.monotonic() + timeout)
    try:
        for leftover in (folder / "private").iterdir():
            leftover.unlink()
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # the next stack copes with anything that is left
        os.close(descriptor)


def _lock_folder(folder: Path, account: Account | None, deadline: float) -> int:
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):  # another stack is just removing it, between two of these steps
            create_socket_folder(folder, account)
            descriptor = _locked(folder)
            if descriptor is not None:
                return descriptor
        time.sleep(0.01)
    raise StackError(
        f"Another stack still uses {folder}.", "Was PASSGRID_HOME deleted while it ran? End its processes, or wait."
    )


def _locked(folder: Path) -> int | None:
    """The folder, open and locked; None while another stack has it, or has removed it under us."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), folder.stat()):
            return descriptor
    os.close(descriptor)
    return None


def _places() -> list[Path]:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own_runtime = [Path(runtime)] if runtime and _belongs_to_us(Path(runtime)) else []
    return [*own_runtime, Path(tempfile.gettempdir()), Path("/tmp")]


def _belongs_to_us(place: Path) -> bool:
    return place.is_dir() and place.stat().st_uid == os.geteuid()


def _is_usable(place: Path, account: Account | None) -> bool:
    """Tell whether others cannot replace a folder of ours in `place`, and the servers can get there.

    Only plain characters: a comma or blank means something in the addresses of Postgres and Celery.
    """
    if not place.is_absolute() or not _PLAIN.fullmatch(str(place)) or not os.access(place, os.W_OK | os.X_OK):
        return False
    status = place.stat()
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
    return not shared and status.st_uid in (0, os.geteuid()) and can_enter(place, account)


def _create_private(folder: Path, mode: int) -> None:
    with suppress(FileExistsError):
        folder.mkdir(mode=mode)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise StackError(
            f"{folder} is meant for the sockets of Passgrid, but it is not a folder of this user.",
            "Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a folder of your own.",
        )
    folder.chmod(mode)
