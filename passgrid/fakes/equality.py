"""When two JSON values are the same, and if not, where they differ first and how much."""

from __future__ import annotations

import json
import re
from typing import Any

from passgrid.json_values import is_array, is_object

LONGEST_VALUE = 200
LONGEST_DIFFERENCE = 1000

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def equal(expected: Any, received: Any) -> bool:
    """Whether two JSON values are the same: the order of keys says nothing, and nothing is converted.

    `1` is `1.0`, and whole numbers compare exactly however large they are; `true` is not `1`.
    """
    if is_object(expected):
        return (
            is_object(received)
            and expected.keys() == received.keys()
            and all(equal(value, received[key]) for key, value in expected.items())
        )
    if is_array(expected):
        return (
            is_array(received)
            and len(expected) == len(received)
            and all(equal(one, other) for one, other in zip(expected, received, strict=True))
        )
    if isinstance(expected, bool) or isinstance(received, bool):
        return expected is received
    if isinstance(expected, int | float) and isinstance(received, int | float):
        return expected == received
    return type(expected) is type(received) and expected == received


def first_difference(expected: Any, received: Any, path: str = "$", *, partial: bool = False) -> str | None:
    """Where two JSON values differ first, as `path: what was expected and what came`; None where they are the same.

    Keys are looked at in the order they are expected in, then those nobody expects (with `partial`, these are no
    difference).
    """
    found = _difference(expected, received, path, partial)
    return None if found is None else found[:LONGEST_DIFFERENCE]


def difference_count(expected: Any, received: Any, *, partial: bool = False) -> int:
    """In how many places two JSON values differ: a key or element that only one of them has counts once."""
    if is_object(expected) and is_object(received):
        keys = expected.keys() if partial else expected.keys() | received.keys()
        return sum(
            difference_count(expected[key], received[key], partial=partial)
            if key in expected and key in received
            else 1
            for key in keys
        )
    if is_array(expected) and is_array(received):
        shared = zip(expected, received, strict=False)
        within = sum(difference_count(one, other, partial=partial) for one, other in shared)
        return within + abs(len(expected) - len(received))
    return 0 if equal(expected, received) else 1


def shown(value: Any) -> str:
    """A value as compact JSON, cut where it is long."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))[:LONGEST_VALUE]


def _difference(expected: Any, received: Any, path: str, partial: bool) -> str | None:
    if is_object(expected):
        if not is_object(received):
            return f"{path}: expected an object, received {shown(received)}"
        return _object_difference(expected, received, path, partial)
    if is_array(expected):
        if not is_array(received):
            return f"{path}: expected an array, received {shown(received)}"
        if len(expected) != len(received):
            return f"{path}: expected an array of length {len(expected)}, received length {len(received)}"
        pairs = enumerate(zip(expected, received, strict=True))
        found = (_difference(one, other, f"{path}[{index}]", partial) for index, (one, other) in pairs)
        return next((difference for difference in found if difference is not None), None)
    return None if equal(expected, received) else f"{path}: expected {shown(expected)}, received {shown(received)}"


def _object_difference(expected: dict[str, Any], received: dict[str, Any], path: str, partial: bool) -> str | None:
    for key, value in expected.items():
        place = _place(path, key)
        if key not in received:
            return f"{place}: expected {shown(value)}, received nothing (key missing)"
        if (found := _difference(value, received[key], place, partial)) is not None:
            return found
    extra = next((key for key in received if key not in expected), None)
    if extra is None or partial:
        return None
    return f"{_place(path, extra)}: unexpected key, received {shown(received[extra])}"


def _place(path: str, key: str) -> str:
    return f"{path}.{key}" if _IDENTIFIER.fullmatch(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"
