"""Values that differ from one call to the next though nothing changed: moments, UUIDs, temporary paths.

Wider than what may be forgotten when a recorded call is matched (`passgrid.cassettes.volatile`): there a time that a
person might ask for must be equal, here it only has to be no news.
"""

from __future__ import annotations

import re

from passgrid.cassettes.volatile import UUID

_KINDS = (
    ("uuid", UUID),
    ("time", r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?"),
    ("path", r"(?:/private)?(?:/var)?/tmp/[^\s\"'<>:,;)\]}]+"),
)
_PATTERN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS))

_MOMENT = re.compile(r"(?:^|_|[a-z](?=[A-Z]))(?:at|time|timestamp|ts|date|expires|expiry|created|updated)$", re.I)
_SECONDS = (1_000_000_000, 4_000_000_000)


def steady(text: str) -> str:
    """The text with its volatile parts named instead of spelled; a day or a time of day alone is data."""
    return _PATTERN.sub(lambda match: f"<{match.lastgroup}>", text)


def is_moment(name: str, value: float) -> bool:
    """Whether a number is a moment: called like one, and seconds or milliseconds since 1970 of this age."""
    if not _MOMENT.search(name):
        return False
    low, high = _SECONDS
    return low <= value < high or low * 1000 <= value < high * 1000
