"""The versions of what runs the attempts."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

from passgrid.matrix import Harness


@cache
def installed_harness() -> Harness:
    """Passgrid, pydantic-ai and mcp as installed here."""
    return Harness(version("passgrid"), version("pydantic-ai-slim"), version("mcp"))
