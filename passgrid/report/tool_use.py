"""How often an arm called each tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passgrid.report.facts import ArmName


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The calls of one tool over all attempts of an arm."""

    tool: str
    calls: int
    errors: int


ToolUses = Mapping[ArmName, Sequence[ToolUse]]
"""By arm, the most called first."""
