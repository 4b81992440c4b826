"""Tool output is data, whatever it holds: made storable without losing what can be kept."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from passgrid.json_values import is_array, is_object

DEEPEST = 200
"""Nesting that the JSON encoder takes with room to spare; what lies deeper becomes text."""


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def storable_text(text: str) -> str:
    """The text, with lone surrogates (which no encoding can hold) replaced by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def storable(value: Any) -> Any:
    """`value` as JSON that can be encoded: the value itself where it can, else a copy with the bad places marked.

    Lone surrogates become U+FFFD; NaN and infinities become their names as text; what is nested too deep becomes text.
    """
    if isinstance(value, str):
        return storable_text(value)
    try:
        orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return _marked(value, 0)
    return value


def _marked(value: Any, depth: int) -> Any:
    if depth > DEEPEST:
        return "[nested too deep]"
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if is_object(value):
        return {storable_text(str(key)): _marked(item, depth + 1) for key, item in value.items()}
    if is_array(value):
        return [_marked(item, depth + 1) for item in value]
    if isinstance(value, bool | int | float) or value is None:
        return value if not isinstance(value, int) or abs(value) < 2**63 else str(value)
    return storable_text(str(value))
