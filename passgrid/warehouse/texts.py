"""Text and JSON as Postgres takes them."""

from __future__ import annotations

from typing import Any

import orjson

from passgrid.storable import storable

TEXT_LIMIT = 2_000


def stored_text(text: str) -> str:
    """The beginning of a text, without NUL, which no column holds."""
    return storable(text)[:TEXT_LIMIT].replace("\0", "\ufffd")


def stored_json(value: Any) -> str:
    """JSON as text: NUL is escaped in it, so Postgres takes it."""
    return orjson.dumps(storable(value)).decode()
