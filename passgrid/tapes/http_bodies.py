"""The JSON-RPC frames in bodies of HTTP: plain JSON, a batch, or a stream of server-sent events."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any

from passgrid.json_values import is_array, is_object
from passgrid.tapes.frames import Body

EVENT_STREAM = "text/event-stream"


def is_event_stream(content_type: str | None) -> bool:
    """Whether a `Content-Type` says that the body is a stream of events."""
    return (content_type or "").partition(";")[0].strip().lower() == EVENT_STREAM


def json_frames(body: str | bytes) -> list[Body]:
    """The messages of a JSON body, one or a batch; none where it holds no message."""
    try:
        value: Any = json.loads(body) if body else None
    except (ValueError, RecursionError):
        return []
    return [item for item in (value if is_array(value) else [value]) if is_object(item) and "jsonrpc" in item]


class EventFrames:
    """The messages of a stream of events, as its bytes come in, cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes, last: bool = False) -> Iterator[Body]:
        """The messages that end in this chunk."""
        text = self._rest + self._decoder.decode(chunk, last)
        # A CR at the very end may be half of a CR LF.
        held = "\r" if text.endswith("\r") and not last else ""
        *lines, rest = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = rest + held
        for line in lines:
            if line.startswith("data:"):
                self._data.append(line[5:].removeprefix(" "))
            elif not line and self._data:
                data, self._data = "\n".join(self._data), []
                yield from json_frames(data)


def event_frames(body: bytes) -> list[Body]:
    """The messages of a whole stream of events; one without its final empty line still counts."""
    return list(EventFrames().feed(body + b"\n\n", last=True))
