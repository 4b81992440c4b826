"""A request and its reply, whoever carries them: an HTTP server, a test, or another part of the program."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

Header: TypeAlias = tuple[bytes, bytes]
"""Name in lower case, and value, as they came."""

JSON = (b"content-type", b"application/json")
EVENTS = (b"content-type", b"text/event-stream")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request with its whole body."""

    method: str
    path: str
    """Decoded, without query."""
    query: bytes
    """As it came, without the question mark."""
    headers: tuple[Header, ...]
    """In the order they came; a name may come twice."""
    body: bytes = b""

    def header(self, name: bytes) -> str | None:
        """The first value of a header; `name` in lower case."""
        for key, value in self.headers:
            if key == name:
                return value.decode("latin-1")
        return None


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One reply: a body, or a stream of bytes as they become known."""

    status: int
    body: bytes = b""
    headers: tuple[Header, ...] = (JSON,)
    stream: AsyncIterator[bytes] | None = None
    """Takes the place of the body."""


Handler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpReply]]
"""Answers a request. What it raises is a defect: mistakes of a client are replies."""
