"""What a check says: whether it passed, and what was found instead."""

from __future__ import annotations

from typing import TypeAlias

Verdict: TypeAlias = tuple[bool | None, str]
"""None: it could not be made. The text is one line, and looked at only where it did not pass."""
