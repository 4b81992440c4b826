"""The workspace of one attempt, from its template to the differences from it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import tempfile
import threading
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from passgrid.scenario import Scenario, Workspace
from passgrid.workspaces.changes import WorkspaceFiles
from passgrid.workspaces.copying import TreeCopy
from passgrid.workspaces.host_folder import HostFolder, remove_tree
from passgrid.workspaces.memory_files import MemoryFiles
from passgrid.workspaces.overlay import METHOD_VARIABLE, Overlay, mount_overlay, unmount
from passgrid.workspaces.reading import read_folder, read_overlay

log = logging.getLogger(__name__)

MANY_FILES = 200
LARGE_BYTES = 16_000_000
"""From so many files or bytes on, an overlay is quicker than a copy, which behaves like any folder."""


class Place(Protocol):
    """Where an attempt works."""

    @property
    def folder(self) -> Path | None:
        """A folder on disk; None where the files are in memory."""
        ...

    @property
    def memory(self) -> MemoryFiles | None:
        """Files in memory, for the built-in file server."""
        ...

    @property
    def method(self) -> str:
        """How it was made: reflink, overlay, copy or memory."""
        ...

    def read(self) -> WorkspaceFiles:
        """What lies there now, compared with the template."""
        ...

    def remove(self) -> None:
        """Take it away."""
        ...


def template_files(workspace: Workspace | None, suite_files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files a workspace starts with, by path inside it."""
    if workspace is None or workspace.template is None:
        return {}
    prefix = workspace.template.rstrip("/") + "/"
    return {path[len(prefix) :]: data for path, data in suite_files.items() if path.startswith(prefix)}


@contextlib.asynccontextmanager
async def fresh_workspace(scenario: Scenario | None, template: Mapping[str, bytes]) -> AsyncGenerator[Place | None]:
    """A workspace with the template's files, removed at the end; None where the scenario wants none.

    Raises `OSError` where it cannot be made.
    """
    if scenario is None or (scenario.workspace is None and not scenario.files_in_memory):
        yield None
        return
    if scenario.files_in_memory:
        yield MemoryPlace(template)
        return
    git = scenario.workspace is not None and scenario.workspace.git
    making = asyncio.ensure_future(asyncio.to_thread(make_workspace, template, git=git))
    try:
        place = await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(lambda made: None if made.exception() else made.result().remove())
        raise
    try:
        yield place
    finally:
        await asyncio.shield(asyncio.to_thread(place.remove))


def make_workspace(template: Mapping[str, bytes], *, git: bool = False) -> Place:
    """A folder with the template's files. Raises `OSError`, `ValueError`."""
    host = host_folder()
    base = host.new_folder()
    try:
        source = host.template(template, git=git)
        wanted = os.environ.get(METHOD_VARIABLE, "auto")
        many = len(template) >= MANY_FILES or sum(map(len, template.values())) >= LARGE_BYTES
        if wanted != "copy" and (many or wanted == "overlay") and (made := _overlaid(template, source, base)):
            return made
        folder = base / "files"
        copying = TreeCopy()
        copying.copy(source, folder, times=git)
    except BaseException:
        remove_tree(base)
        raise
    return FolderPlace(folder, template, copying.method)


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A copy of the template, which shares blocks with it where the file system can."""

    folder: Path
    template: Mapping[str, bytes] = field(repr=False)
    method: str
    memory: MemoryFiles | None = None

    def read(self) -> WorkspaceFiles:
        """What lies there now."""
        return read_folder(self.folder, self.template)

    def remove(self) -> None:
        """Take it away."""
        remove_tree(self.folder.parent)


@dataclass(frozen=True, slots=True)
class OverlayPlace:
    """A mount over the template."""

    folder: Path
    template: Mapping[str, bytes] = field(repr=False)
    overlay: Overlay
    method: str = "overlay"
    memory: MemoryFiles | None = None

    def read(self) -> WorkspaceFiles:
        """What lies there now."""
        return read_overlay(self.overlay, self.template)

    def remove(self) -> None:
        """Take it away."""
        unmount(self.folder)
        remove_tree(self.folder.parent)


class MemoryPlace:
    """Files in memory, behind the built-in file server."""

    folder = None
    method = "memory"

    def __init__(self, template: Mapping[str, bytes]) -> None:
        """Raises `ValueError` for paths of a template that would be refused from an agent."""
        self.memory = MemoryFiles(template)

    def read(self) -> WorkspaceFiles:
        """What lies there now."""
        return self.memory.compared()

    def remove(self) -> None:
        """Nothing is left of it."""


def _overlaid(template: Mapping[str, bytes], source: Path, base: Path) -> OverlayPlace | None:
    """A mount over the template; None where none can be made."""
    if not _overlays.possible:
        return None
    folder = base / "files"
    folder.mkdir()
    try:
        overlay = mount_overlay(source, base, folder)
    except OSError as error:
        _overlays.possible = False
        log.info("workspaces are copied: %s", error)
        for made in (folder, base / "upper", base / "work"):
            remove_tree(made)
        return None
    return OverlayPlace(folder, template, overlay)


class _Overlays:
    """Whether this process may mount overlays; found out with the first."""

    possible = True


_overlays = _Overlays()
_first = threading.Lock()


def host_folder() -> HostFolder:
    """This process's view of the host's folder."""
    with _first:
        return _host_folder(os.getpid(), workspaces_root())


@functools.cache
def _host_folder(pid: int, root: Path) -> HostFolder:
    try:
        return HostFolder(root)
    except OSError as error:
        other = Path(tempfile.mkdtemp(prefix="passgrid-workspaces-"))
        log.warning("workspaces lie in %s: %s", other, error)
        return HostFolder(other)


def workspaces_root() -> Path:
    """`workspaces` below PASSGRID_HOME, by default below `passgrid` in the user's XDG data folder."""
    if home := os.environ.get("PASSGRID_HOME"):
        return Path(home).expanduser() / "workspaces"
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    try:
        below = data if data.is_absolute() else Path.home() / ".local" / "share"
    except RuntimeError:
        below = Path(tempfile.gettempdir()) / f"passgrid-{os.geteuid()}"
    return below / "passgrid" / "workspaces"
