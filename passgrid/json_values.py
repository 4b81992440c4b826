"""Tell the shapes of JSON values apart, in a way type checkers follow."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """A JSON object."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    """A JSON array; tuples count too, as they are written as arrays."""
    return isinstance(value, list | tuple)
