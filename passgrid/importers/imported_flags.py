"""What the built-in detectors find in attempts of other tools: as much as their files tell."""

from __future__ import annotations

from collections.abc import Sequence

from passgrid.scenario import Scenario
from passgrid.scoring.detectors import detected
from passgrid.scoring.evidence import Evidence
from passgrid.suite_code import SuiteCode
from passgrid.transcript import Message, ToolCallRecord

_SCENARIO = Scenario(name="imported", task="imported")
_NO_CODE = SuiteCode({})


def imported_flags(calls: Sequence[ToolCallRecord], messages: Sequence[Message] = ()) -> dict[str, str]:
    """Detectors that fire, each with what it saw; one that needs what is not told finds nothing."""
    evidence = Evidence(
        scenario=_SCENARIO, messages=list(messages), tool_calls=tuple(calls), files={}, verdicts={}, mode="live"
    )
    return {flag.name: flag.detail for flag in detected(evidence, _NO_CODE)}
