"""Asking servers beside the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, runtime_checkable


class AskedInVain(Exception):
    """A server answered with an error, or not at all; the message says which."""


@runtime_checkable
class AsksServers(Protocol):
    """Servers that can be asked directly; what is asked is no part of the journal."""

    async def ask(self, server: str | None, tool: str, arguments: dict[str, Any]) -> Any:
        """What a tool answers, projected. None names the only server. Raises `AskedInVain`."""
        ...

    async def read(self, server: str | None, uri: str) -> Any:
        """What a resource holds. Raises `AskedInVain`."""
        ...

    def private_folder(self, server: str | None) -> Path | None:
        """The server's own folder, `${private}`; None where it has none."""
        ...
