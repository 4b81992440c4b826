"""What lies in a workspace at the end. Links are not followed, and nothing but files is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from passgrid.workspaces.changes import IGNORED, WorkspaceFiles, compared
from passgrid.workspaces.overlay import Overlay

LONGEST = 64_000_000
"""Bytes of one file that are read."""

_MOVED = (
    "trusted.overlay.redirect",
    "user.overlay.redirect",
    "trusted.overlay.opaque",
    "user.overlay.opaque",
)
"""Marks of a folder that does not show what the template has at its place."""


def read_folder(folder: Path, template: Mapping[str, bytes]) -> WorkspaceFiles:
    """Everything in a folder, compared with its template."""
    files = dict(_files(folder, folder))
    return compared(template, files, set(template) - files.keys())


def read_overlay(overlay: Overlay, template: Mapping[str, bytes]) -> WorkspaceFiles:
    """Only what was written on top of the template: quick, however many files it has."""
    written: dict[str, bytes] = {}
    gone: set[str] = set()
    hidden: list[str] = []
    _read_upper(overlay, Path(), written, gone, hidden)
    if hidden:
        prefixes = tuple(f"{path}/" for path in hidden)
        gone |= {path for path in template if path in hidden or path.startswith(prefixes)}
    return compared(template, written, gone)


def _read_upper(overlay: Overlay, below: Path, written: dict[str, bytes], gone: set[str], hidden: list[str]) -> None:
    for entry in _entries(overlay.upper / below):
        path = below / entry.name
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISCHR(facts.st_mode) and facts.st_rdev == 0:
            hidden.append(path.as_posix())
        elif not entry.is_dir(follow_symlinks=False):
            if (data := _content(entry)) is not None:
                written[path.as_posix()] = data
            # A file in the place of a folder of the template.
            hidden.append(path.as_posix())
        elif entry.name in IGNORED:
            continue
        elif _marked(entry.path):
            hidden.append(path.as_posix())
            written.update(_files(overlay.folder / path, overlay.folder))
        else:
            if path.as_posix():
                gone.add(path.as_posix())
            _read_upper(overlay, path, written, gone, hidden)


def _marked(folder: str) -> bool:
    try:
        return not set(os.listxattr(folder, follow_symlinks=False)).isdisjoint(_MOVED)
    except OSError:
        return True


def _files(folder: Path, root: Path) -> Iterator[tuple[str, bytes]]:
    """Path below `root` and bytes of every file below `folder`."""
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in IGNORED:
                yield from _files(Path(entry.path), root)
        elif (data := _content(entry)) is not None:
            yield Path(entry.path).relative_to(root).as_posix(), data


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing of one that may not be read."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except PermissionError:
        return []


def _content(entry: os.DirEntry[str]) -> bytes | None:
    """The bytes of a file, or where a link leads; None for what is neither (a pipe, a socket), or may not be read."""
    if entry.is_symlink():
        return os.fsencode(os.readlink(entry.path))
    if not entry.is_file(follow_symlinks=False):
        return None
    try:
        with open(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(LONGEST)
    except OSError:
        return None
