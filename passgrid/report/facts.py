"""The facts a report is made of: one finished or missing attempt each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ARM_AXES = ("run_id", "label", "mode", "model", "prompt", "target", "fault", "mitigation", "agent")
"""The columns an arm's name is made of, in order."""


@dataclass(frozen=True, slots=True)
class ArmName:
    """Which arm of which run."""

    run: str
    label: str
    mode: str
    model: str
    prompt: str
    target: str = "default"
    fault: str = "none"
    mitigation: str = "none"
    agent: str = "default"
    imported_from: str | None = None
    """The format it was imported from; None: measured here."""


@dataclass(frozen=True, slots=True)
class AttemptFact:
    """One wanted attempt. What is unknown, or not there yet, is None."""

    arm: ArmName
    suite: str
    scenario: str
    sample: int
    attempt_id: str
    outcome: str | None
    """None until it is done; limits and errors with their detail, such as `limit(turns)`."""
    reason: str | None
    valid: bool
    passed: bool
    tool_calls: int | None
    model_turns: int | None
    wasted_calls: int | None
    duration_s: float | None
    tokens: int | None
    cost_usd: float | None
    answers: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tool calls by how they were answered."""
    stages: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """Stages the scenario expects, and whether each was reached."""
    flags: tuple[str, ...] = ()
    """Detectors that fired."""
    working_s: float | None = None
    """Of its duration, without waiting for a provider."""
    recovered_structured: int | None = None
    """Errors with a code and a suggestion that it got over."""
    recovered_opaque: int | None = None
    """Other errors that it got over."""
    leftovers: int | None = None
    """Artifacts it made that are still there; None: nobody looked."""


def fact_of(
    arm: ArmName,
    row: Mapping[str, Any],
    answers: Mapping[str, int],
    stages: Mapping[str, bool],
    flags: tuple[str, ...] = (),
) -> AttemptFact:
    """One row of the attempts table, by column, as a fact; `tokens` is the sum of both kinds, None when unknown."""
    done = row["state"] == "done"
    detail = row["outcome_detail"]
    return AttemptFact(
        arm=arm,
        suite=row["suite"],
        scenario=row["scenario"],
        sample=row["sample"],
        attempt_id=row["attempt_id"],
        outcome=(f"{row['outcome']}({detail})" if detail else row["outcome"]) if done else None,
        reason=row["reason"],
        valid=row["valid"] is True,
        passed=row["passed"] is True,
        tool_calls=row["tool_calls"],
        model_turns=row["model_turns"],
        wasted_calls=row["wasted_calls"],
        duration_s=row["duration_s"],
        working_s=row["working_s"],
        recovered_structured=row["recovered_structured"],
        recovered_opaque=row["recovered_opaque"],
        leftovers=row["leftovers"],
        tokens=row["tokens"],
        cost_usd=row["cost_usd"],
        answers=answers,
        stages=stages,
        flags=flags,
    )
