"""What is taken out of messages before they are kept: headers that hold secrets, and values that are known ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from passgrid.json_values import is_object
from passgrid.redaction import Redactor, secrets_of

_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
_HIDDEN = "[redacted]"


def message_redactor() -> Callable[[Any], Any]:
    """Takes secrets out of headers (an object with the names of headers) and bodies alike."""
    redactor = Redactor(secrets_of(os.environ))

    def redact(value: Any) -> Any:
        clean = redactor.value(value)
        if is_object(clean) and not _SECRET_HEADERS.isdisjoint(clean):
            return {name: _HIDDEN if name in _SECRET_HEADERS else item for name, item in clean.items()}
        return clean

    return redact
