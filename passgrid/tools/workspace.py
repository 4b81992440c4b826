"""The folder an attempt works in: fresh from its template, compared with it afterwards, gone at the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passgrid.scenario import Workspace

IGNORED = frozenset({".git", "__pycache__"})
_GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Passgrid", "GIT_AUTHOR_EMAIL": "passgrid@localhost",
    "GIT_COMMITTER_NAME": "Passgrid", "GIT_COMMITTER_EMAIL": "passgrid@localhost",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip
"""Fixed names and dates: the first commit has the same hash in every attempt, so recordings compare."""


@dataclass(frozen=True, slots=True)
class WorkspaceFiles:
    """What lies in a workspace at the end, as text by path."""

    files: Mapping[str, str]
    changed: Mapping[str, str]
    """Created or changed, compared with the template."""
    deleted: tuple[str, ...]

    def without(self, clean: Callable[[str], str]) -> WorkspaceFiles:
        """The same files with their text cleaned."""
        return replace(
            self,
            files={path: clean(text) for path, text in self.files.items()},
            changed={path: clean(text) for path, text in self.changed.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """As a cassette holds it: only what differs from the template."""
        return {"changed": dict(sorted(self.changed.items())), "deleted": list(self.deleted)}


def template_files(workspace: Workspace | None, suite_files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files a workspace starts with, by path inside it."""
    if workspace is None or workspace.template is None:
        return {}
    prefix = workspace.template.rstrip("/") + "/"
    return {path[len(prefix) :]: data for path, data in suite_files.items() if path.startswith(prefix)}


@contextlib.contextmanager
def fresh_workspace(workspace: Workspace | None, template: Mapping[str, bytes]) -> Generator[Path | None]:
    """A folder with the template's files, removed at the end; None where the scenario wants none."""
    if workspace is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="passgrid-workspace-")).resolve()
    try:
        for path, data in template.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        if workspace.git:
            _make_repository(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_repository(folder: Path) -> None:
    environment = {**_GIT_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", "Passgrid"],
        ["config", "user.email", "passgrid@localhost"],
        ["add", "--all"],
        ["commit", "--quiet", "--allow-empty", "--message=Start"],
    ):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True, capture_output=True, timeout=30)


def read_workspace(folder: Path, template: Mapping[str, bytes]) -> WorkspaceFiles:
    """What lies there now. Links are not followed; bytes that are no text are read with replacements."""
    files: dict[str, bytes] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in IGNORED]
        for name in names:
            path = Path(root) / name
            if not path.is_symlink():
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
    changed = {path: data for path, data in files.items() if template.get(path) != data}
    return WorkspaceFiles(
        files={path: _text(data) for path, data in sorted(files.items())},
        changed={path: _text(data) for path, data in sorted(changed.items())},
        deleted=tuple(sorted(set(template) - set(files))),
    )


def recorded_workspace(recorded: Mapping[str, Any], template: Mapping[str, bytes]) -> WorkspaceFiles:
    """What lay there at the end of the recorded attempt."""
    changed: dict[str, str] = dict(recorded.get("changed", {}))
    deleted = tuple(recorded.get("deleted", ()))
    kept = {path: _text(data) for path, data in template.items() if path not in deleted}
    return WorkspaceFiles(files=dict(sorted((kept | changed).items())), changed=changed, deleted=deleted)


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
