"""The part of a server's answer that is compared: a suite may unwrap an envelope first."""

from __future__ import annotations

from typing import Any

from passgrid.json_paths import as_json, at_path

__all__ = ["PATTERN", "as_json", "projected"]

PATTERN = r"^[^.\s]+(\.[^.\s]+)*$"
"""Names of members, and numbers of elements, joined by dots."""


def projected(answer: Any, path: str | None) -> Any:
    """What lies at `path` in an answer; the whole answer where there is no path, or nothing lies there."""
    try:
        return at_path(answer, path)
    except LookupError:
        return answer
