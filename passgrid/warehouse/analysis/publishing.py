"""How the analysis file is replaced while others read it.

`<folder>/current` names the file of now; a new version gets a new name and the pointer moves in one step. Readers keep
the file they have open; DuckDB in one process would go on reading a replaced file of the same name.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Generator
from pathlib import Path

POINTER = "current"
TRANSCRIPTS = "transcripts"
"""Folder of the transcript parts: `<run>/<number>.parquet`."""
KEPT = 2
"""Versions that stay: readers may be about to open the one before."""


def current_file(folder: Path) -> Path | None:
    """The published file; None before the first export."""
    try:
        name = (folder / POINTER).read_text().strip()
    except FileNotFoundError:
        return None
    path = folder / name
    return path if name and os.sep not in name and path.is_file() else None


@contextlib.contextmanager
def one_exporter(folder: Path) -> Generator[None]:
    """Only one process writes; another waits its turn."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".exporting", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def draft_file(folder: Path) -> Path:
    """A new name for the next version; leftovers of a broken-off export go."""
    for leftover in folder.glob("draft-*"):
        leftover.unlink(missing_ok=True)
    return folder / f"draft-{os.getpid()}.duckdb"


def copy_of(file: Path, draft: Path) -> None:
    """Start the next version from the last one."""
    shutil.copyfile(file, draft)


def publish(folder: Path, draft: Path) -> Path:
    """Make the draft the file of now, whole and on disk, in one step."""
    before = current_file(folder)
    number = int(before.stem.rpartition("-")[2]) + 1 if before is not None else 1
    target = folder / f"analysis-{number:06d}.duckdb"
    _sync(draft)
    os.rename(draft, target)
    pointer = folder / f".{POINTER}-{os.getpid()}"
    pointer.write_text(target.name + "\n")
    _sync(pointer)
    os.replace(pointer, folder / POINTER)
    for old in sorted(folder.glob("analysis-*.duckdb"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return target


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
