"""When two sets of tool arguments are the same call."""

from __future__ import annotations

from typing import Any

from passgrid.identity import canonical_json
from passgrid.json_values import is_array, is_object


def canonical_arguments(arguments: Any) -> bytes:
    """One byte string for arguments that mean the same.

    The order of keys does not matter, `1` equals `1.0`, absent arguments equal `{}`; nothing else is coerced.
    """
    return canonical_json(_plain({} if arguments is None else arguments))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return {key: _plain(item) for key, item in value.items()}
    if is_array(value):
        return [_plain(item) for item in value]
    return value
