"""The first difference between what was recorded and what came, in words."""

from __future__ import annotations

from typing import Any

import orjson

from passgrid.json_values import is_array, is_object

SHOWN = 80
"""Characters of each side that are shown."""


RECORDING = ("recorded", "now")
"""What the two sides are called where a replay is compared with its recording."""
EXPECTATION = ("expected", "got")
"""What they are called where a check is made."""


def first_difference(recorded: Any, received: Any, path: str = "$", sides: tuple[str, str] = RECORDING) -> str | None:
    """Where and how two JSON values first differ, None when they are equal; integral floats equal integers.

    sides: what the first and the second value are called.
    """
    was, now = sides
    if is_object(recorded) and is_object(received):
        for key in [*recorded, *(key for key in received if key not in recorded)]:
            place = f"{path}.{key}" if str(key).isidentifier() else f'{path}["{key}"]'
            if key not in received:
                return f"{place}: {was} {_shown(recorded[key])}, {now} nothing"
            if key not in recorded:
                return f"{place}: not {was}, {now} {_shown(received[key])}"
            if difference := first_difference(recorded[key], received[key], place, sides):
                return difference
        return None
    if is_array(recorded) and is_array(received):
        for i, (left, right) in enumerate(zip(recorded, received, strict=False)):
            if difference := first_difference(left, right, f"{path}[{i}]", sides):
                return difference
        if len(recorded) != len(received):
            return f"{path}: {was} {len(recorded)} items, {now} {len(received)}"
        return None
    if isinstance(recorded, str) and isinstance(received, str):
        return None if recorded == received else f"{path}: {text_difference(recorded, received, sides)}"
    if type(recorded) is not type(received) and bool in {type(recorded), type(received)}:
        return f"{path}: {was} {_shown(recorded)}, {now} {_shown(received)}"
    return None if recorded == received else f"{path}: {was} {_shown(recorded)}, {now} {_shown(received)}"


def text_difference(recorded: str, received: str, sides: tuple[str, str] = RECORDING) -> str:
    """How two different texts first differ, with a little of both around the place."""
    at = next(
        (i for i, (left, right) in enumerate(zip(recorded, received, strict=False)) if left != right),
        min(len(recorded), len(received)),
    )
    start = max(0, at - 10)
    end = start + SHOWN
    place = f"at character {at}: " if len(recorded) > SHOWN or len(received) > SHOWN else ""
    return f"{place}{sides[0]} {_shown(recorded[start:end])}, {sides[1]} {_shown(received[start:end])}"


def _shown(value: Any) -> str:
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= SHOWN + 2 else text[:SHOWN] + "…"
