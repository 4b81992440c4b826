"""Which era of the protocol a session speaks: with a handshake (until 2025-11-25) or without (2026-07-28)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from passgrid.json_values import is_object
from passgrid.tapes.frames import Frame, frame_id, is_answer, is_request, meta_of

INITIALIZE = "initialize"
DISCOVER = "server/discover"
PROTOCOL_KEY = "io.modelcontextprotocol/protocolVersion"
"""Where requests without a handshake say the version they speak, in `_meta`."""


@dataclass(frozen=True, slots=True)
class Era:
    """What a tape can be replayed as: one of an era cannot serve a client of the other."""

    name: Literal["handshake", "modern"]
    protocol: str


@dataclass(slots=True)
class EraFinder:
    """Sees frames pass until one of them decides the era.

    A client may ask for a discovery first and fall back to the handshake: only an accepted handshake, or a request
    that is not a discovery, decides.
    """

    _handshakes: set[str] = field(default_factory=set[str])

    def see(self, frame: Frame) -> Era | None:
        """The era, at the frame that decides it."""
        body = frame.body
        if body is None:
            return None
        if frame.sender == "client" and is_request(body):
            if body["method"] == INITIALIZE:
                self._handshakes.add(frame_id(body))
                return None
            version = meta_of(body.get("params")).get(PROTOCOL_KEY)
            return Era("modern", version) if isinstance(version, str) and body["method"] != DISCOVER else None
        if frame.sender == "server" and is_answer(body) and frame_id(body) in self._handshakes:
            result = body.get("result")
            version = result.get("protocolVersion") if is_object(result) else None
            return Era("handshake", version) if isinstance(version, str) else None
        return None
