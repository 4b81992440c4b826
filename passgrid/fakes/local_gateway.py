"""A gateway of fakes inside one process, without a database: for the tests of one run, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from passgrid.fakes.fake_service import FakesAt, FakeService
from passgrid.fakes.loading import Fakes, load, load_files
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.report import FakesReport, report_of, seen_call
from passgrid.wire.http import HttpReply, HttpRequest
from passgrid.wire.json_text import dump
from passgrid.wire.mcp_mount import McpMount
from passgrid.wire.mcp_sessions import MemorySessions


class LocalGateway:
    """Serves what is loaded, at every mount; state and journal are forgotten when it is told to."""

    def __init__(self) -> None:
        self._sessions = MemorySessions()
        self.forget()

    def forget(self) -> None:
        """Begin anew, with nothing loaded and nothing used up; clients keep their sessions."""
        self._fakes = Fakes()
        self._state = MemoryState(cap=0)
        self._mounts: dict[str, McpMount] = {}

    def load(self, document: Any, source: str) -> tuple[str, ...]:
        """Add the blocks of a document; returns warnings. Raises `UnusableFakes`, and nothing of it is added."""
        loaded = load(self._fakes, document, source)
        self._fakes = loaded.fakes
        return loaded.warnings

    def load_files(self, files: Mapping[str, Path]) -> tuple[str, ...]:
        """Add the blocks of files, by the name each is known under; else as `load`."""
        loaded = load_files(self._fakes, files)
        self._fakes = loaded.fakes
        return loaded.warnings

    def report(self, test_id: str) -> FakesReport:
        """How a test has gone so far."""
        rows = (
            seen_call(one.mount, one.tool, one.outcome, one.entry_id, one.answered, one.request.body)
            for one in list(self._state.journal)
        )
        return report_of(self._fakes, test_id, [one for one in rows if one is not None], evicted=False)

    async def handle(self, request: HttpRequest) -> HttpReply:
        """The reply to a request."""
        mount = self._mount(request.path)
        if mount is None:
            paths = ", ".join(sorted(self._paths()))
            return HttpReply(404, dump({"error": f"there is no {request.path}; mounts: {paths}"}))
        return await mount.handle(request)

    def _paths(self) -> set[str]:
        return {"/mcp", *(path for path, one in self._fakes.mounts.items() if one.blocks)}

    def _mount(self, path: str) -> McpMount | None:
        if path not in self._paths():
            return None
        if path not in self._mounts:
            service = FakeService(path, self._fakes_at(path), self._state, cap=0)
            self._mounts[path] = McpMount(path, service, self._sessions)
        return self._mounts[path]

    def _fakes_at(self, path: str) -> FakesAt:
        async def at() -> MountFakes:
            return self._fakes.mount(path)

        return at
