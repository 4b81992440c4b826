"""Arms for tests of reports: passes by scenario, other numbers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from passgrid.report.arms import ArmReport, arm_reports
from passgrid.report.facts import ArmName, AttemptFact
from tests.unit.passgrid.report.test_arms import fact


def name(model: str = "gpt", run: str = "r1", **axes: Any) -> ArmName:
    return ArmName(run, "default", "live", model, **{"prompt": "plain", **axes})


def facts(arm: ArmName, passes: Mapping[str, Sequence[bool | None]], **columns: Any) -> list[AttemptFact]:
    """Of each scenario its attempts: passed, failed, or None for an infra error."""
    outcome = {True: "passed", False: "failed", None: "infra_error(server)"}
    return [
        fact(scenario, i, outcome[one], arm=arm, attempt_id=f"{arm.run}-{arm.model}-{scenario}-{i}", **columns)
        for scenario, found in passes.items()
        for i, one in enumerate(found)
    ]


def arm(passes: Mapping[str, Sequence[bool | None]], model: str = "gpt", run: str = "r1", **columns: Any) -> ArmReport:
    (found,) = arm_reports(facts(name(model, run), passes, **columns))
    return found


def many(passing: int, of: int, model: str, k: int = 1) -> ArmReport:
    """The first so many of the scenarios pass."""
    return arm({f"s{i:03}": [i < passing] * k for i in range(of)}, model)


BROKEN = {"a": [True, None, None, None]}
"""4 wanted, 1 pass, 3 infra errors."""
