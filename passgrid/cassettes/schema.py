"""The published JSON Schema of a cassette file."""

from __future__ import annotations

from typing import Any

from passgrid.cassettes.format import FORMAT, VERSION

_NAME = {"type": "string", "minLength": 1}
_PAYLOAD = {
    "type": "object",
    "properties": {"$payload": {"type": "string", "pattern": r"^[0-9a-f]{64}\.(txt|json)$"}},
    "required": ["$payload"],
    "additionalProperties": False,
}
_COUNT = {"type": ["integer", "null"], "minimum": 0}
_MODEL_PART = {
    "type": "object",
    "oneOf": [
        {"required": ["text"], "properties": {"text": {"type": "string"}}},
        {"required": ["thinking"], "properties": {"thinking": {"type": "string"}}},
        {"required": ["image", "media_type"]},
        {"required": ["call", "id", "args"], "properties": {"call": _NAME, "id": {"type": "string"}}},
    ],
}
_MODEL_TURN = {
    "type": "object",
    "properties": {
        "parts": {"type": "array", "items": _MODEL_PART},
        "usage": {
            "type": "object",
            "properties": dict.fromkeys(("input", "output", "cache_read", "cache_write"), _COUNT),
            "additionalProperties": False,
        },
        "served": {"type": ["string", "null"], "description": "The model id the provider says it served."},
        "finish": {"type": ["string", "null"]},
        "cost_usd": {"type": ["number", "null"], "minimum": 0},
        "ms": {"type": ["number", "null"], "minimum": 0, "description": "In files of before `timings`."},
    },
    "required": ["parts"],
    "additionalProperties": False,
}
_CALL = {
    "type": "object",
    "properties": {
        "call": {"type": "integer", "minimum": 0},
        "server": {"type": "string"},
        "result": {},
        "error": {"type": ["string", "object"]},
        "library": _NAME,
        "answered": {"type": "integer", "minimum": 0},
        "ms": {"type": ["number", "null"], "minimum": 0},
        "own": {"const": True, "description": "Of a tool that the agent program has itself."},
        "told": {"description": "What the agent program told its model instead."},
    },
    "required": ["call"],
    "oneOf": [{"required": ["result"]}, {"required": ["error"]}, {"required": ["library"]}],
    "additionalProperties": False,
}
_ALONE = {
    "type": "object",
    "description": "A call that an agent program made by itself.",
    "properties": {
        "tool": _NAME, "args": {}, "server": {"type": "string"}, "result": {}, "error": {"type": ["string", "object"]},
    },
    "required": ["tool", "args"],
    "oneOf": [{"required": ["result"]}, {"required": ["error"]}],
    "additionalProperties": False,
}  # fmt: skip


def cassette_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a cassette file, for editors and for everyone who reads them elsewhere."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Passgrid cassette",
        "type": "object",
        "properties": {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "scenario": _NAME,
            "label": _NAME,
            "prompt": _NAME,
            "sample": {"type": "integer", "minimum": 0},
            "source": {"type": "object", "required": ["model", "tool"]},
            "system": {"anyOf": [{"type": ["string", "null"]}, _PAYLOAD]},
            "tools": {"anyOf": [{"type": "array"}, _PAYLOAD]},
            "steps": {
                "type": "array",
                "items": {
                    "oneOf": [
                        {"required": ["user"], "properties": {"user": {"type": ["string", "array"]}}},
                        {"required": ["model"], "properties": {"model": _MODEL_TURN}},
                        {"required": ["calls"], "properties": {"calls": {"type": "array", "items": _CALL}}},
                        {"required": ["alone"], "properties": {"alone": _ALONE}},
                        {"required": ["feedback"], "properties": {"feedback": _NAME}},
                    ],
                    "type": "object",
                    "maxProperties": 1,
                },
            },
            "ending": {
                "type": "object",
                "properties": {"outcome": {"enum": ["completed", "limit"]}, "limit": _NAME},
                "required": ["outcome"],
                "additionalProperties": False,
            },
            "verdicts": {"type": "object"},
            "workspace": {
                "type": "object",
                "properties": {"changed": {"type": "object"}, "deleted": {"type": "array", "items": _NAME}},
                "additionalProperties": False,
            },
            "afterwards": {
                "type": "object",
                "description": "What servers said after the agent was done.",
                "properties": {
                    "artifacts": {"type": "array"}, "read_backs": {"type": "object"}, "end_state": {"type": "object"},
                    "judge": {"type": "object"}, "leftovers": {"type": "array"},
                    "removed": {"type": "integer"}, "trouble": {"type": "string"},
                },
                "additionalProperties": False,
            },
            "hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "timings": {
                "type": "object",
                "description": "Milliseconds, on the way to a file beside the cassette; in no hash.",
                "properties": {"model": {"type": "array"}, "calls": {"type": "array"}},
                "additionalProperties": False,
            },
        },
        "required": [
            "format", "version", "scenario", "label", "prompt", "sample", "source", "system", "tools", "steps",
            "ending", "hash",
        ],
        "additionalProperties": False,
    }  # fmt: skip
