"""Which operating-system account runs Postgres, and which folders that account can enter.

Postgres refuses to run as root, so for root it runs as an account without privileges. That account cannot enter a
0700 folder of root, such as root's own home, which is where the default PASSGRID_HOME lies.
"""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from api.stack.errors import StackError

_CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """An account of the operating system that a server is started as."""

    name: str
    uid: int
    gid: int


def server_account() -> Account | None:
    """Return the account Postgres has to run as, or None when it runs as ourselves (we are not root).

    Raises StackError when we are root and the machine has no such account.
    """
    if os.geteuid() != 0:
        return None
    for name in _CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise StackError(
        f"Postgres does not run as root, and this machine has no user named {' or '.join(_CANDIDATES)} to run it as.",
        "Create one of them (useradd --system postgres), or run passgrid as an ordinary user.",
    )


def can_enter(folder: Path, account: Account | None) -> bool:
    """Tell whether the account may pass through the folder and everything above it; None stands for ourselves.

    Only the permission bits count: an access-control list that grants more is overlooked, which costs a copy and
    nothing else.
    """
    if account is None:
        return os.access(folder, os.X_OK)
    real = folder.resolve()
    return all(_may_search(place, account) for place in (real, *real.parents))


def _may_search(folder: Path, account: Account) -> bool:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return True  # created later, by us and with the right permissions
    if status.st_uid == account.uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == account.gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)
