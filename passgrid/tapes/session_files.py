"""Which tape a frame of a recorded HTTP server belongs to: one file a session."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passgrid.tapes.era import INITIALIZE
from passgrid.tapes.format import SUFFIX
from passgrid.tapes.frames import Body
from passgrid.tapes.writer import TapeFailed, TapeWriter


class SessionFiles:
    """The tapes of all sessions of one server: `name.tape.jsonl`, then `name-2.tape.jsonl`, and so on."""

    def __init__(self, first: Path, source: Mapping[str, Any]) -> None:
        self._first = first
        self._source = source
        self._sessions: dict[str, TapeWriter] = {}
        self._nameless: TapeWriter | None = None
        """What has no session: all requests of the era without, and the first ones of a session."""
        self._shaking = False
        """Whether a handshake has begun in that one."""
        self._left: list[TapeWriter | None] = []
        """Answers may still come to these."""
        self._count = 0
        self.paths: list[Path] = []

    def open_first(self) -> None:
        """Begin the first file now. Raises `InvalidInput` where it exists, `OSError` where it cannot be made."""
        self._nameless = self._begin()

    def writer_for(self, session: str | None, bodies: list[Body]) -> TapeWriter:
        """The tape that messages of a client go to."""
        if session is not None and session in self._sessions:
            return self._sessions[session]
        begins = any(body.get("method") == INITIALIZE for body in bodies)
        # A client that tried a discovery before its handshake stays in the file it began.
        if self._nameless is None or (begins and (self._shaking or self._nameless.era is not None)):
            self._left.append(self._nameless)
            self._nameless, self._shaking = self._begin(), False
        self._shaking = self._shaking or begins
        return self._nameless

    def name(self, session: str, writer: TapeWriter) -> None:
        """A handshake was answered with the name of its session."""
        if session not in self._sessions:
            self._sessions[session] = writer
            if writer is self._nameless:
                self._nameless = None
            elif writer in self._left:
                self._left.remove(writer)

    def end(self, session: str) -> None:
        """The client ended this session."""
        self._close(self._sessions.pop(session, None))

    def close(self) -> None:
        """End every tape. Raises `TapeFailed` for those that could not be written."""
        failures: list[str] = []
        for writer in [*self._sessions.values(), *self._left, self._nameless]:
            try:
                if writer is not None:
                    writer.close()
            except TapeFailed as error:
                failures.append(str(error))
        if failures:
            raise TapeFailed("\n".join(failures))

    def _begin(self) -> TapeWriter:
        while True:
            self._count += 1
            path = self._first
            if self._count > 1:
                path = path.with_name(f"{path.name.removesuffix(SUFFIX)}-{self._count}{SUFFIX}")
                if path.exists():
                    continue
            writer = TapeWriter(path, self._source)
            self.paths.append(path)
            return writer

    @staticmethod
    def _close(writer: TapeWriter | None) -> None:
        # Said at the end of the recording, too; a session that goes on is not ended for it.
        if writer is not None:
            with contextlib.suppress(TapeFailed):
                writer.close()
