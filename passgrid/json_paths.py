"""The part of a JSON value at a path such as `order.lines.0.id`."""

from __future__ import annotations

from typing import Any

import orjson

from passgrid.json_values import is_array, is_object


def at_path(value: Any, path: str | None) -> Any:
    """The part at a path; the whole value where there is no path. Texts that hold JSON are gone into like JSON.

    Raises `LookupError` naming the first part that is not there.
    """
    if path is None:
        return value
    at = ""
    for part in path.split("."):
        at = f"{at}.{part}" if at else part
        value = as_json(value)
        if is_object(value) and part in value:
            value = value[part]
        elif is_array(value) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise LookupError(at)
    return value


def as_json(value: Any) -> Any:
    """The JSON a text holds; the value itself where it holds none, or is no text."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
