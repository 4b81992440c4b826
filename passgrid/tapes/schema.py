"""The published JSON Schema of a tape: of each of its lines."""

from __future__ import annotations

from typing import Any

from passgrid.tapes.format import FORMAT, VERSION

_MESSAGE = {
    "description": "A JSON-RPC message as it was; as a string where it is not standard JSON; null where it was none.",
    "type": ["object", "string", "null"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["integer", "string", "null"]},
        "method": {"type": "string"},
        "params": {"type": ["object", "null"]},
        "error": {"type": "object", "required": ["code", "message"]},
    },
}


def _line(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def tape_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a line of a tape, for everyone who reads them elsewhere."""
    number = {"type": "integer", "minimum": 0}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a Passgrid tape",
        "oneOf": [
            _line(
                {"format": {"const": FORMAT}, "version": {"const": VERSION}, "source": {"type": "object"}},
                ["format", "version", "source"],
            ),
            _line({"client": _MESSAGE, "exchange": number}, ["client"]),
            _line({"server": _MESSAGE, "exchange": number}, ["server"]),
            _line({"era": {"enum": ["handshake", "modern"]}, "protocol": {"type": "string"}}, ["era", "protocol"]),
            _line({"frames": number, "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}, ["frames", "hash"]),
        ],
    }
