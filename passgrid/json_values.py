"""Tell the shapes of JSON values apart, in a way type checkers follow."""

from __future__ import annotations

from typing import Any, Literal, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """A JSON object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """A JSON array; tuples count too, as they are written as arrays."""
    return isinstance(value, list | tuple)


def json_type(value: Any) -> Literal["null", "boolean", "number", "string", "array", "object"]:
    """What JSON calls this kind of value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if is_array(value) else "object"
