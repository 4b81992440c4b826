"""What became of a workspace: its files at the end, and how they differ from the template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from passgrid.identity import content_hash

IGNORED = frozenset({".git", "__pycache__"})
"""Folders nobody compares: what lies in them differs from run to run."""


@dataclass(frozen=True, slots=True)
class Content:
    """What lies at a path: enough to tell whether it is the same."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that is not as it was in the template. A symbolic link counts as a file that holds where it leads."""

    path: str
    change: Literal["created", "changed", "deleted"]
    before: Content | None
    after: Content | None


@dataclass(frozen=True, slots=True)
class WorkspaceDiff:
    """Every difference from the template, by path."""

    changes: tuple[FileChange, ...] = ()

    def without(self, clean: Callable[[str], str]) -> WorkspaceDiff:
        """The same with paths cleaned."""
        return WorkspaceDiff(tuple(replace(change, path=clean(change.path)) for change in self.changes))


class TextFiles(Mapping[str, str]):
    """Files as text, decoded when somebody looks: most of many files nobody asks for.

    Bytes that are no text are read with replacements.
    """

    def __init__(self, files: Mapping[str, bytes], clean: Callable[[str], str] = lambda text: text) -> None:
        self._files = files
        self._clean = clean

    def __getitem__(self, path: str) -> str:
        return self._clean(self._files[path].decode(errors="replace"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def cleaned(self, clean: Callable[[str], str]) -> TextFiles:
        """The same files, each text cleaned as well."""
        before = self._clean
        return TextFiles(self._files, lambda text: clean(before(text)))


@dataclass(frozen=True, slots=True)
class WorkspaceFiles:
    """What lies in a workspace at the end, as text by path."""

    files: TextFiles
    changed: Mapping[str, str]
    """Created or changed, compared with the template."""
    deleted: tuple[str, ...]
    diff: WorkspaceDiff

    def without(self, clean: Callable[[str], str]) -> WorkspaceFiles:
        """The same files with their text cleaned."""
        return WorkspaceFiles(
            files=self.files.cleaned(clean),
            changed={path: clean(text) for path, text in self.changed.items()},
            deleted=self.deleted,
            diff=self.diff.without(clean),
        )

    def to_json(self) -> dict[str, Any]:
        """As a cassette holds it: only what differs from the template."""
        return {"changed": dict(sorted(self.changed.items())), "deleted": list(self.deleted)}


def compared(template: Mapping[str, bytes], written: Mapping[str, bytes], gone: Iterable[str]) -> WorkspaceFiles:
    """What became of a template when `written` holds every file that may differ, and `gone` names those that are gone.

    A written file equal to the template's is no change.
    """
    changed = {path: data for path, data in sorted(written.items()) if template.get(path) != data}
    deleted = tuple(sorted(path for path in set(gone) if path in template and path not in written))
    changes = [
        FileChange(
            path=path,
            change="changed" if path in template else "created",
            before=content_of(template[path]) if path in template else None,
            after=content_of(data),
        )
        for path, data in changed.items()
    ]
    changes += [FileChange(path, "deleted", content_of(template[path]), None) for path in deleted]
    files = {path: data for path, data in {**template, **written}.items() if path not in deleted}
    return WorkspaceFiles(
        files=TextFiles(dict(sorted(files.items()))),
        changed={path: data.decode(errors="replace") for path, data in changed.items()},
        deleted=deleted,
        diff=WorkspaceDiff(tuple(sorted(changes, key=lambda change: change.path))),
    )


def recorded_workspace(recorded: Mapping[str, Any], template: Mapping[str, bytes]) -> WorkspaceFiles:
    """What lay there at the end of the recorded attempt."""
    changed: dict[str, str] = dict(recorded.get("changed", {}))
    written = {path: text.encode(errors="surrogatepass") for path, text in changed.items()}
    return compared(template, written, recorded.get("deleted", ()))


def content_of(data: bytes) -> Content:
    """What is kept of a file's bytes."""
    return Content(content_hash(data), len(data))
