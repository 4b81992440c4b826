"""The data folder of Postgres, and how a server that runs as another account gets into it.

Root's home is 0700, and PASSGRID_HOME usually lies in it, so the account Postgres runs as cannot walk there. Instead of
opening root's folders to everybody, we open the data folder ourselves and let the server inherit it: to Linux,
`/proc/self/fd/N` is the folder itself, whatever lies above it. All processes of Postgres inherit the descriptor.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.stack.accounts import Account, can_enter


@dataclass(frozen=True)
class OpenedFolder:
    """A folder as a server can reach it."""

    argument: str
    """The path to give to the server."""
    descriptors: tuple[int, ...]
    """File descriptors the server has to inherit for `argument` to mean something."""


@contextmanager
def opened_for(folder: Path, account: Account | None) -> Generator[OpenedFolder]:
    """Yield `folder` as `account` can reach it; the server may be started any number of times inside."""
    if can_enter(folder.parent, account):
        yield OpenedFolder(str(folder), ())
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield OpenedFolder(f"/proc/self/fd/{descriptor}", (descriptor,))
    finally:
        os.close(descriptor)


def create_empty(folder: Path, account: Account | None) -> None:
    """Create a private folder of `account` at this place, in place of whatever was there."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    if account:
        os.chown(folder, account.uid, account.gid)
