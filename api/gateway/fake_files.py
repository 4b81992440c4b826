"""The files of fakes a gateway was started with, kept in step with the database."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from passgrid.fakes.load_errors import Complaints, LoadError, Rule, UnusableFakes
from passgrid.fakes.loading import Fakes, fake_files, load, read_document
from passgrid.warehouse.gateway_loads import keep_in_step

log = logging.getLogger(__name__)


class FakeFiles:
    """Looks at the files when it is told to."""

    def __init__(self, engine: sa.Engine, space: str, paths: Sequence[Path]) -> None:
        self._engine = engine
        self._space = space
        self._paths = paths
        self._owner = "\n".join(sorted(str(path.resolve()) for path in paths))
        self._stamps: dict[str, tuple[int, int]] = {}

    def load(self) -> None:
        """Load all files as they are now. Raises `UnusableFakes`, and everything stays as it was."""
        if not self._paths:
            return
        files = named_files(self._paths)
        self._stamps = _stamps(files)
        documents, warnings = read_documents(files)
        for warning in warnings:
            log.warning("%s", warning)
        with self._engine.connect() as connection:
            keep_in_step(connection, self._space, self._owner, documents)

    def load_changed(self) -> bool:
        """Load them again where one has changed, was added or is gone; returns whether that was so."""
        files = named_files(self._paths)
        if _stamps(files) == self._stamps:
            return False
        self.load()
        return True


def named_files(paths: Sequence[Path]) -> dict[str, Path]:
    """The files some paths stand for, by the name their blocks are known under.

    Raises `UnusableFakes` where two would have one name: the ids of their blocks could not be told apart.
    """
    found: dict[str, Path] = {}
    for one in paths:
        for source, path in fake_files(one).items():
            if source in found and found[source].resolve() != path.resolve():
                complaints = Complaints(source)
                complaints.bad(
                    Rule.ID_COLLISION, f"{found[source]} and {path} have one name; load them from one folder"
                )
                raise UnusableFakes(tuple(complaints.errors))
            found[source] = path
    return found


def read_documents(files: dict[str, Path]) -> tuple[dict[str, Any], list[str]]:
    """The documents of files, checked together, and warnings. Raises `UnusableFakes` with the mistakes of all."""
    documents: dict[str, Any] = {}
    errors: list[LoadError] = []
    warnings: list[str] = []
    for source, path in files.items():
        try:
            document = read_document(_bytes(path, source), source)
            warnings += load(Fakes(), document, source).warnings
            documents[source] = document
        except UnusableFakes as error:
            errors += error.errors
    if errors:
        raise UnusableFakes(tuple(errors))
    return documents, warnings


def _bytes(path: Path, source: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        complaints = Complaints(source)
        complaints.bad(Rule.BAD_SHAPE, f"cannot be read: {error.strerror}")
        raise UnusableFakes(tuple(complaints.errors)) from None


def _stamps(files: dict[str, Path]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for source, path in files.items():
        try:
            status = path.stat()
        except OSError:
            continue
        found[source] = (status.st_mtime_ns, status.st_size)
    return found
