"""Server-sent events, as they stand on the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from passgrid.model_api.said import json_text

DONE = b"data: [DONE]\n\n"


def data_event(value: Any) -> bytes:
    """An event without a name."""
    return f"data: {json_text(value)}\n\n".encode()


def named_event(value: dict[str, Any]) -> bytes:
    """An event named after the `type` of what it carries."""
    return f"event: {value['type']}\ndata: {json_text(value)}\n\n".encode()


async def streamed(events: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Events one after the other."""
    for event in events:
        yield event
