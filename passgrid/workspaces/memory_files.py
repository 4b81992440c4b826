"""A small file system in memory: regular files and folders, no links, so nothing leads out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from passgrid.workspaces.changes import WorkspaceFiles, compared
from passgrid.workspaces.paths import PathRefused, file_path, inner_path, likeness

MOST_BYTES = 64_000_000
MOST_FILES = 20_000


class FileRefused(ValueError):
    """What was asked for cannot be done; the message is for who asked."""


class MemoryFiles:
    """The files of one attempt. Every path is checked; see `passgrid.workspaces.paths`."""

    def __init__(self, template: Mapping[str, bytes] | None = None) -> None:
        """Raises `PathRefused` and `FileRefused` for a template with paths that would be refused from an agent."""
        self._template = dict(template or {})
        self._files: dict[str, bytes] = {}
        self._folders: set[str] = {""}
        self._alike: dict[str, str] = {"": ""}
        self._size = 0
        for path, data in self._template.items():
            self.write(path, data)

    def read(self, path: str) -> bytes:
        """The bytes of a file."""
        inner = file_path(path)
        if inner in self._folders:
            raise FileRefused(f"{inner} is a folder")
        if inner not in self._files:
            raise self._absent(inner)
        return self._files[inner]

    def write(self, path: str, data: bytes) -> None:
        """Make or replace a file; its folders are made."""
        inner = file_path(path)
        if inner in self._folders:
            raise FileRefused(f"{inner} is a folder")
        size = self._size + len(data) - len(self._files.get(inner, b""))
        if size > MOST_BYTES or (inner not in self._files and len(self._files) >= MOST_FILES):
            raise FileRefused(f"no space left: the workspace holds {MOST_BYTES:,} bytes in {MOST_FILES:,} files")
        self._check_new(inner)
        self._make_folders(_parent(inner))
        self._alike[likeness(inner)] = inner
        self._files[inner] = data
        self._size = size

    def make_folder(self, path: str) -> None:
        """Make a folder and those above it; nothing happens where it exists."""
        inner = inner_path(path)
        if inner in self._files:
            raise FileRefused(f"{inner} is a file")
        self._check_new(inner)
        self._make_folders(inner)

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder; the target must not exist."""
        old, new = file_path(source.rstrip("/")), file_path(target.rstrip("/"))
        if not self.exists(old):
            raise self._absent(old)
        if self.exists(new):
            raise FileRefused(f"{new} exists already")
        if new.startswith(f"{old}/"):
            raise FileRefused(f"{old} cannot be moved into itself")
        moved = [path for path in (*self._files, *self._folders) if path == old or path.startswith(f"{old}/")]
        names = {path: new + path[len(old) :] for path in moved}
        self._check_new(new, but=frozenset(moved))
        for path in moved:
            del self._alike[likeness(path)]
        self._make_folders(_parent(new))
        self._files = {names.get(path, path): data for path, data in self._files.items()}
        self._folders = {names.get(path, path) for path in self._folders}
        self._alike |= {likeness(path): path for path in names.values()}

    def delete(self, path: str) -> None:
        """Remove a file, or a folder that is empty."""
        inner = file_path(path.rstrip("/"))
        if inner in self._folders:
            if any(self.children(inner)):
                raise FileRefused(f"{inner} is a folder with something in it")
            self._folders.remove(inner)
        elif inner in self._files:
            self._size -= len(self._files.pop(inner))
        else:
            raise self._absent(inner)
        del self._alike[likeness(inner)]

    def exists(self, inner: str) -> bool:
        """Whether there is a file or folder of this path, given in its one form."""
        return inner in self._files or inner in self._folders

    def is_folder(self, path: str) -> bool:
        """Whether it is a folder. Raises `FileRefused` where there is nothing."""
        inner = inner_path(path)
        if not self.exists(inner):
            raise self._absent(inner)
        return inner in self._folders

    def children(self, path: str) -> list[str]:
        """Names in a folder, sorted; those of folders end with a slash."""
        inner = inner_path(path)
        if inner not in self._folders:
            raise FileRefused(f"{inner} is a file") if inner in self._files else self._absent(inner)
        return sorted(
            path.rpartition("/")[2] + ("/" if path in self._folders else "")
            for path in (*self._files, *self._folders)
            if path and _parent(path) == inner
        )

    def below(self, path: str) -> Iterator[str]:
        """Every path below a folder, sorted."""
        inner = inner_path(path)
        if inner not in self._folders:
            raise FileRefused(f"{inner} is a file") if inner in self._files else self._absent(inner)
        prefix = f"{inner}/" if inner else ""
        yield from sorted(path for path in (*self._files, *self._folders) if path and path.startswith(prefix))

    def compared(self) -> WorkspaceFiles:
        """What lies here now, compared with the template."""
        return compared(self._template, self._files, set(self._template) - self._files.keys())

    def _make_folders(self, inner: str) -> None:
        while inner and inner not in self._folders:
            self._folders.add(inner)
            self._alike[likeness(inner)] = inner
            inner = _parent(inner)

    def _check_new(self, inner: str, but: frozenset[str] = frozenset()) -> None:
        """Nothing on the way to a new path is a file, or is taken for something that has another name."""
        path = inner
        while path:
            there = self._alike.get(likeness(path))
            if there is not None and there != path and there not in but:
                raise PathRefused(f"{path!r} and {there!r}, which exists, are one name where case or form do not count")
            if path != inner and path in self._files and path not in but:
                raise FileRefused(f"{path} is a file, not a folder")
            path = _parent(path)

    def _absent(self, inner: str) -> FileRefused:
        there = self._alike.get(likeness(inner))
        return FileRefused(f"{inner} does not exist" + (f"; there is {there}" if there else ""))


def _parent(inner: str) -> str:
    return inner.rpartition("/")[0]
