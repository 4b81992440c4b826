"""Canonical JSON and the content hashes everything is addressed by."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

ID_LENGTH = 32
"""Hex digits of a run, cell or attempt id: 128 bits of a SHA-256."""


def canonical_json(value: Any) -> bytes:
    """One byte string for one JSON value: keys sorted, no spaces, UTF-8.

    Raises `TypeError` for what is not JSON (also NaN is written as null by the encoder: keep it out before).
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def content_hash(data: bytes) -> str:
    """SHA-256 in hex of these very bytes: the address of a blob, a payload or a file."""
    return hashlib.sha256(data).hexdigest()


def value_hash(value: Any) -> str:
    """SHA-256 in hex of a JSON value in canonical form."""
    return content_hash(canonical_json(value))


def short_id(value: Any) -> str:
    """The id of a thing decided by `value`: the first 32 hex digits of its hash."""
    return value_hash(value)[:ID_LENGTH]
