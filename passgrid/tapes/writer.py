"""Writes a tape while the session goes on: what has passed is in the file, whoever is killed next."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from passgrid.problems import InvalidInput, PassgridError, Problem
from passgrid.redaction import Redactor, secrets_of
from passgrid.tapes.era import Era
from passgrid.tapes.format import TapeLines
from passgrid.tapes.frames import Frame


class TapeFailed(PassgridError):
    """The session went on, and its tape could not be written to the end; the message names file and reason."""


class TapeWriter:
    """A tape that is being written. Safe to use from several threads.

    A session never fails because of its recording: what goes wrong while writing is kept, and raised by `close`.
    """

    def __init__(self, path: Path, source: Mapping[str, Any], redactor: Redactor | None = None) -> None:
        """Begin the file. Raises `InvalidInput` where it exists, `OSError` where it cannot be made.

        redactor: takes secrets out of every frame; by default it knows those of this process's environment.
        """
        self.path = path
        self._redactor = redactor or Redactor(secrets_of(os.environ))
        self._lines = TapeLines(source)
        self._lock = threading.Lock()
        self._failure: OSError | None = None
        try:
            self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        except FileExistsError:
            raise InvalidInput([Problem(str(path), "is there already", "name another file, or remove it")]) from None
        self._append(self._lines.head())

    @property
    def era(self) -> Era | None:
        """The era of the session, once it is decided."""
        return self._lines.era

    def add(self, frame: Frame) -> None:
        """Append a frame; it is in the file when this returns."""
        clean = replace(frame, body=self._redactor.value(frame.body))
        with self._lock:
            if self._file is not None and self._failure is None:
                self._append(self._lines.frame(clean))

    def close(self) -> None:
        """Write the hash and close. Raises `TapeFailed` where anything could not be written; again does nothing."""
        with self._lock:
            if self._file is None:
                return
            if self._failure is None:
                self._append(self._lines.end())
            os.close(self._file)
            self._file = None
        if self._failure is not None:
            raise TapeFailed(f"{self.path}: the recording stops in the middle: {self._failure.strerror}")

    def _append(self, line: bytes) -> None:
        assert self._file is not None
        try:
            # No buffer of ours: it would be lost with this process.
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self._failure = error

    def __enter__(self) -> TapeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except TapeFailed:
            if error is None:
                raise
