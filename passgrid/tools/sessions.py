"""Who opens sessions with servers: fresh ones for each attempt, or a worker that keeps some ready."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from passgrid.redaction import Redactor
from passgrid.server import AnyServer
from passgrid.suite_code import SuiteCode
from passgrid.workspaces.memory_files import MemoryFiles

if TYPE_CHECKING:
    # The client of live servers takes seconds to import: replays never do.
    from pydantic_ai.mcp import MCPToolset


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an attempt's servers are given."""

    code: SuiteCode
    """Makes servers in this process."""
    redactor: Redactor
    """Takes secrets out of what servers write to stderr."""
    places: Mapping[str, Path | None] = field(default_factory=dict[str, Path | None])
    """The folders that `${suite}` and `${workspace}` stand for."""
    memory: MemoryFiles | None = None
    """The files of the built-in file server."""


class Sessions(Protocol):
    """Opens sessions."""

    def open(self, name: str, server: AnyServer, around: Surroundings) -> AbstractAsyncContextManager[MCPToolset[Any]]:
        """A connected client for one attempt. Raises what starting or connecting raises."""
        ...
