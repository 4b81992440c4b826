"""Copying a folder: by reflink where the file system shares blocks, else inside the kernel. Never by hard links."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_FICLONE = 0x40049409
_COPY = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_NO_REFLINK = frozenset({errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EPERM})
_CHUNK = 1 << 30
_SMALL = 65_536
"""Bytes that are read and written at once: quicker than having the kernel copy them."""


class TreeCopy:
    """Copies folders; learns with the first file whether the file system can reflink."""

    def __init__(self, *, reflink: bool = True) -> None:
        self.reflinks = reflink and sys.platform.startswith("linux")
        """Whether files share their blocks until one of them is written to. Known after the first file."""

    @property
    def method(self) -> str:
        """How files were copied: reflink or copy."""
        return "reflink" if self.reflinks else "copy"

    def copy(self, source: Path, target: Path, *, times: bool = False) -> None:
        """Make `target`, which must not exist, a copy of `source`. Raises `OSError`.

        Symbolic links stay links. `times` keeps the times of files.
        """
        target.mkdir(mode=stat.S_IMODE(source.stat().st_mode))
        with _opened(source) as from_, _opened(target) as to:
            self._copy(from_, to, times)

    def _copy(self, source: int, target: int, times: bool) -> None:
        with os.scandir(source) as found:
            entries = list(found)
        for entry in entries:
            name = entry.name
            if entry.is_file(follow_symlinks=False):
                from_ = os.open(name, _READ, dir_fd=source)
                try:
                    facts = os.fstat(from_)
                    to = os.open(name, _COPY, facts.st_mode & 0o7777, dir_fd=target)
                    try:
                        self._copy_file(from_, to, facts, times)
                    finally:
                        os.close(to)
                finally:
                    os.close(from_)
            elif entry.is_dir(follow_symlinks=False):
                os.mkdir(name, dir_fd=target)
                with _opened(name, source) as from_, _opened(name, target) as to:
                    self._copy(from_, to, times)
            elif entry.is_symlink():
                os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)

    def _copy_file(self, source: int, target: int, facts: os.stat_result, times: bool) -> None:
        if not (self.reflinks and self._reflinked(source, target)):
            if facts.st_size > _SMALL:
                _copy_bytes(source, target, facts.st_size)
            elif facts.st_size:
                data = os.read(source, facts.st_size)
                if os.write(target, data) != len(data):
                    raise OSError(errno.ENOSPC, "only part of a file could be written")
        if times:
            os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def _reflinked(self, source: int, target: int) -> bool:
        try:
            fcntl.ioctl(target, _FICLONE, source)
        except OSError as error:
            if error.errno not in _NO_REFLINK:
                raise
            self.reflinks = False
        return self.reflinks


def _copy_bytes(source: int, target: int, left: int) -> None:
    while left > 0:
        try:
            copied = os.copy_file_range(source, target, min(left, _CHUNK))
        except OSError as error:
            if error.errno not in _NO_REFLINK:
                raise
            with os.fdopen(os.dup(source), "rb") as from_, os.fdopen(os.dup(target), "wb") as to:
                shutil.copyfileobj(from_, to)
            return
        if copied == 0:
            return
        left -= copied


@contextmanager
def _opened(folder: str | Path, parent: int | None = None) -> Generator[int]:
    number = os.open(folder, _FOLDER, dir_fd=parent)
    try:
        yield number
    finally:
        os.close(number)
