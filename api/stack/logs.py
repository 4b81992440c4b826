"""Log files of the processes of the stack."""

import os
from pathlib import Path
from typing import BinaryIO

ROTATE_AT = 10_000_000
"""Bytes a log may have when a process starts; a longer one is set aside as `.log.1`."""


def open_log(path: Path) -> BinaryIO:
    """Open a log to append to, setting it aside first if it has grown too long."""
    if path.exists() and path.stat().st_size > ROTATE_AT:
        path.replace(path.with_suffix(path.suffix + ".1"))
    return path.open("ab", buffering=0)


def last_lines(path: Path, count: int = 8) -> str:
    """Return the last lines of a log, for an error message; says so when there are none."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 4000))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return f"({path} does not exist)"
    return "\n".join(lines[-count:]) or f"({path} is empty)"
