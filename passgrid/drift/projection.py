"""The part of a server's answer that is compared: a suite may unwrap an envelope first."""

from __future__ import annotations

from typing import Any

import orjson

from passgrid.json_values import is_array, is_object

PATTERN = r"^[^.\s]+(\.[^.\s]+)*$"
"""Names of members, and numbers of elements, joined by dots."""


def projected(answer: Any, path: str | None) -> Any:
    """What lies at `path` in an answer; the whole answer where there is no path, or nothing lies there.

    Texts that hold JSON are gone into like JSON.
    """
    if path is None:
        return answer
    value = answer
    for step in path.split("."):
        value = as_json(value)
        if is_object(value) and step in value:
            value = value[step]
        elif is_array(value) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return answer
    return value


def as_json(value: Any) -> Any:
    """The JSON a text holds; the value itself where it holds none, or is no text."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value
