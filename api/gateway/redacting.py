"""What is taken out of messages before they are kept: headers but for a few, and what is secret in bodies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.redaction import Redactor, secrets_of

_SHOWN_HEADERS = frozenset(
    {"accept", "content-length", "content-type", "host", "last-event-id", "origin", "traceparent", "user-agent"}
)
_SHOWN_BEGINNINGS = ("mcp-", "x-test-id", "x-aimock-", "x-passgrid-sample")
_HIDDEN = "[redacted]"


@dataclass(frozen=True)
class MessageRedactor:
    """Takes secrets out of what is kept of a message."""

    redactor: Redactor

    def body(self, value: Any) -> Any:
        """A body without what is known to be secret, or looks so."""
        return self.redactor.value(value)

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Values of the headers that are known to hold no secret; of any other one its name."""
        return self.redactor.value({name: value if _shown(name) else _HIDDEN for name, value in headers.items()})


def _shown(name: str) -> bool:
    return name in _SHOWN_HEADERS or name.startswith(_SHOWN_BEGINNINGS)


def message_redactor() -> MessageRedactor:
    """Knows the secrets of this process's environment."""
    return MessageRedactor(Redactor(secrets_of(os.environ)))
