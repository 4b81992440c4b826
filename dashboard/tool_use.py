"""What Tools shows of one arm: its tools, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.comparison import ComparedArm, Scenario
from dashboard.open_store import OpenStore, tools
from passgrid.warehouse.analysis.tools import ToolRow


@dataclass(frozen=True, slots=True)
class ArmTools:
    """The tools of one arm, the most called first."""

    arm: ComparedArm
    rows: tuple[ToolRow, ...]

    @property
    def calls(self) -> int:
        """Of all tools, errored ones included."""
        return sum(row.calls for row in self.rows)

    @property
    def errors(self) -> int:
        """Calls that ended in an error."""
        return sum(row.errors for row in self.rows)

    @property
    def listed(self) -> bool:
        """Whether single calls are known: an imported run may tell only how many there were."""
        return self.calls > 0

    @property
    def dominant(self) -> ToolRow | None:
        """The tool that is called most; None where none is called twice."""
        first = self.rows[0] if self.rows else None
        return first if first is not None and first.calls > 1 else None


def arm_tools(opened: OpenStore, arm: ComparedArm, kept: frozenset[Scenario] | None) -> ArmTools:
    """Over the scenarios kept."""
    return ArmTools(arm, tuple(tools(opened, arm.row.name, kept)))
