"""Fakes as a scenario carries them: read from a file of its suite, or written into it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from passgrid.parts import Part


class FakesDocument(Part):
    """One document of fakes. Its blocks are checked when the suite is read."""

    source: str = Field(default="scenario", description="The file it was read from.")
    mcp_fakes: Any = Field(alias="mcpFakes", description="One block of fakes, or several.")

    def to_json(self) -> dict[str, Any]:
        """As a file of fakes holds it."""
        return {"mcpFakes": self.mcp_fakes}
