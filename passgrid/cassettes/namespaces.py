"""The text that belongs to one attempt alone, and stands as `${namespace}` in its recording."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from passgrid.cassettes.format import Cassette
from passgrid.json_values import is_array, is_object
from passgrid.ledger import NAMESPACE


def without_namespace(cassette: Cassette, namespace: str) -> Cassette:
    """A recording that says `${namespace}` where the attempt's own text stood: two recordings compare."""
    return _with(cassette, namespace, NAMESPACE)


def with_namespace(cassette: Cassette, namespace: str) -> Cassette:
    """A recording as if it had been made by the attempt of this namespace."""
    return _with(cassette, NAMESPACE, namespace)


def _with(cassette: Cassette, old: str, new: str) -> Cassette:
    steps: Any = _replaced(list(cassette.steps), old, new)
    return replace(
        cassette,
        steps=tuple(steps),
        system=_replaced(cassette.system, old, new),
        afterwards=_replaced(dict(cassette.afterwards), old, new),
        workspace=_replaced(dict(cassette.workspace), old, new),
    )


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if is_object(value):
        return {_replaced(key, old, new): _replaced(item, old, new) for key, item in value.items()}
    if is_array(value):
        return [_replaced(item, old, new) for item in value]
    return value
