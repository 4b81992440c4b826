"""What the HTTP server itself does not limit: how many clients are connected, and how long each may take to ask."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.gateway.joined_writes import JoinedWrites

REQUEST_SECONDS = 20.0
"""Within which a whole request must have come, from its first byte or from the connection on."""
MOST_CONNECTIONS = 2_000


class PatientProtocol(HttpToolsProtocol):
    """Ends connections that say nothing whole, and those beyond the most; a reply is one write."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client connects."""
        super().connection_made(JoinedWrites(transport, self.loop))  # pyright: ignore[reportArgumentType]
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something came; empty lines between two requests begin none, and are not waited for either."""
        super().data_received(data)
        if self._deadline is None and self.cycle is not None and self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison] - none before the first request
            self._wait()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._wait()
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._stop_waiting()
        super().on_message_complete()

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()
