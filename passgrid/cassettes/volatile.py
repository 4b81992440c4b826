"""Values that are new each time: found by rule, so that two recordings, or a recording and a session, can be compared.

A *token* is such a value: a UUID, a clock reading (a time with a fraction of a second, which no person writes), a
temporary folder, the value of a field whose name says that it is made for one request, or what a suite's rules name.
A date, a time of day or a number is none: they are what people ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, TypeAlias

import orjson

from passgrid.json_values import is_array, is_object

UUID = r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
TOKEN = re.compile(
    rf"(?P<uuid>{UUID})"
    r"|(?P<clock>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+(?:Z|[+-]\d\d:?\d\d)?)"
    r"|(?P<folder>(?:/private)?/(?:tmp|var/folders/[^/\s\"']+/[^/\s\"']+/T)/[^/\s\"'\\:,;)\]}>]+)"
)
"""Tokens inside of texts, by kind."""

REQUEST_FIELDS = frozenset(
    {"nonce", "requestid", "idempotencykey", "traceid", "correlationid", "clientrequestid", "clienttoken"}
)
"""Names of fields, in lower case and without marks between words, whose value is made for one request."""
_MADE = re.compile(r"(?=.*\d)[A-Za-z0-9_+/=-]{16,}")
"""How such a value looks when a machine made it."""

Place: TypeAlias = str
"""Where a token stands: the path in the value, and its number in the text there."""
Replace: TypeAlias = Callable[[Place, str, Any], Any]
"""From place, kind and token to what is to stand there instead."""

RULED = "ruled"
"""The kind of a token that a suite's rules name."""


def rewritten(value: Any, replace: Replace, ruled: Collection[str] = ()) -> Any:
    """`value` with every token replaced. JSON written in a text is looked into where rules name a place in it.

    Args:
        value: arguments or a result.
        replace: asked for each token, in order.
        ruled: paths of further tokens, such as `order.id` or `items.*.id`.
    """
    return _walk(value, "", replace, frozenset(ruled), "")


def _walk(value: Any, path: str, replace: Replace, ruled: frozenset[str], name: str) -> Any:
    if is_object(value):
        return {key: _walk(item, _below(path, key), replace, ruled, key) for key, item in value.items()}
    if is_array(value):
        return [_walk(item, _below(path, str(i)), replace, ruled, name) for i, item in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if ruled and _is_ruled(path, ruled):
        return replace(path, RULED, value)
    if isinstance(value, str):
        if _plain_name(name) in REQUEST_FIELDS and _MADE.fullmatch(value):
            return replace(path, "request", value)
        return _in_text(value, path, replace, ruled)
    return value


def _in_text(text: str, path: str, replace: Replace, ruled: frozenset[str]) -> str:
    if ruled and text[:1] in {"{", "["}:
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
        else:
            changed = _walk(document, path, replace, ruled, "")
            return text if changed == document else orjson.dumps(changed).decode()
    count = 0

    def one(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return str(replace(f"{path}#{count}", str(match.lastgroup), match.group()))

    return TOKEN.sub(one, text)


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _plain_name(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _is_ruled(path: str, ruled: frozenset[str]) -> bool:
    if path in ruled:
        return True
    parts = path.split(".")
    return any(_fits(parts, rule.split(".")) for rule in ruled if "*" in rule)


def _fits(parts: list[str], rule: list[str]) -> bool:
    return len(parts) == len(rule) and all(want in {"*", part} for part, want in zip(parts, rule, strict=True))
