"""The drift of whole runs: by arm, from sums over their attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from passgrid.drift.account import DriftAccount, ToolTally
from passgrid.drift.findings import Finding, Severity, merged
from passgrid.report.facts import ARM_AXES, ArmName

LEAST_COVERAGE = 0.95
"""Valid / wanted below which nothing can be concluded."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DriftArm:
    """What one arm found."""

    name: ArmName
    wanted: int
    valid: int
    drift: DriftAccount

    @property
    def coverage(self) -> float:
        """Valid / wanted."""
        return self.valid / self.wanted if self.wanted else 0.0

    def findings(self, severity: Severity) -> list[Finding]:
        """Those of one severity."""
        return [one for one in self.drift.findings if one.severity is severity]


def drift_arms(arms: Sequence[Row], tools: Iterable[Row], findings: Iterable[Row]) -> list[DriftArm]:
    """Arms from rows by column: the axes of an arm, and the sums of what its attempts found."""
    tallies: dict[ArmName, list[ToolTally]] = {}
    for row in tools:
        numbers = {name: int(row[name]) for name in ("calls", "compared", "equal")}
        tally = ToolTally(row["server"], row["tool"], missing=row["missing"] is True, **numbers)
        tallies.setdefault(_arm(row), []).append(tally)
    found: dict[ArmName, list[Finding]] = {}
    for row in findings:
        found.setdefault(_arm(row), []).append(_finding(row))
    return [
        DriftArm(
            name := _arm(row),
            row["wanted"],
            row["valid"],
            DriftAccount(tuple(tallies.get(name, ())), merged(found.get(name, ()))),
        )
        for row in arms
    ]


def _arm(row: Row) -> ArmName:
    return ArmName(*(row[axis] for axis in ARM_AXES))


def _finding(row: Row) -> Finding:
    texts = {name: row[name] for name in ("part", "server", "tool", "place", "change", "attempt")}
    return Finding(
        **texts,
        severity=Severity(row["severity"]),
        recorded=orjson.loads(row["recorded"]),
        live=orjson.loads(row["live"]),
        count=int(row["count"]),
    )


def exit_code(arms: Sequence[DriftArm]) -> int:
    """3 where something is breaking, else 4 where too little was measured to say that nothing is."""
    if any(arm.findings(Severity.BREAKING) for arm in arms):
        return 3
    return 0 if arms and all(arm.coverage >= LEAST_COVERAGE for arm in arms) else 4


def drift_document(arms: Sequence[DriftArm]) -> dict[str, Any]:
    """As `passgrid drift --json` prints it."""
    return {
        "arms": [
            {
                **asdict(arm.name),
                "wanted": arm.wanted,
                "valid": arm.valid,
                "coverage": arm.coverage,
                "counts": {str(severity): len(arm.findings(severity)) for severity in Severity},
                "tools": [asdict(tally) for tally in arm.drift.tools],
                "findings": [asdict(one) for one in arm.drift.findings],
            }
            for arm in arms
        ]
    }
