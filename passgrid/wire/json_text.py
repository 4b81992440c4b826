"""JSON as it stands in a body: read strictly and exactly, written compactly, whatever it holds."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import orjson

DEEPEST = 200
"""Levels a body may be nested: deeper ones are no honest arguments, and would exhaust the stack."""

_LONG_NUMBER = re.compile(rb"\d{19}")


class BadJson(ValueError):
    """This is not JSON that can be used; the message says why."""


def parse(body: bytes) -> Any:
    """The value of a body. Whole numbers are exact; of a key that stands twice the last counts.

    Raises `BadJson`: not JSON, NaN or infinity, not UTF-8, or nested too deep.
    """
    if body.count(b"[") + body.count(b"{") > DEEPEST and _depth(body) > DEEPEST:
        raise BadJson(f"nested deeper than {DEEPEST} levels")
    if _LONG_NUMBER.search(body) is None:
        try:
            return orjson.loads(body)
        except ValueError as error:
            # What only the other parser takes: escapes of lone surrogates.
            if b"\\ud" not in body.lower():
                raise BadJson(str(error)) from None
    try:
        return json.loads(body, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise BadJson(str(error)) from None


def dump(value: Any) -> bytes:
    """The shortest JSON text of a value."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        # Large whole numbers and lone surrogates: escaped, they are valid.
        return json.dumps(value, separators=(",", ":")).encode()


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:20]} is larger than any number here")
    return number


def _depth(body: bytes) -> int:
    """How deep brackets are nested, outside of texts."""
    deepest = depth = 0
    inside = escaped = False
    for byte in body:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest
