"""Whether the live models of a matrix can be made at all, before anything is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passgrid.library import Suite
from passgrid.matrix import Cell
from passgrid.models.live import UnusableModel, check_provider
from passgrid.models.scripted import POLICIES_FILE, POLICY_MARK
from passgrid.problems import Problem
from passgrid.suite_code import BrokenSuiteCode, SuiteCode


def model_problems(cells: Sequence[Cell], suites: Mapping[str, Suite]) -> list[Problem]:
    """Unknown providers and unknown policies, each once."""
    problems: list[Problem] = []
    for suite, model in sorted({(cell.suite, cell.arm.model) for cell in cells}, key=str):
        place = f"--model {model}"
        try:
            if not model.scripted:
                check_provider(model)
                continue
            policies = SuiteCode(suites[suite].files).marked(POLICIES_FILE, POLICY_MARK)
        except (UnusableModel, BrokenSuiteCode) as error:
            problems.append(Problem(place, str(error)))
            continue
        if model.name not in policies:
            there = ", ".join(f"scripted:{name}" for name in sorted(policies)) or "none"
            problems.append(Problem(place, f"suite {suite} has no such policy; there are: {there}"))
    return problems
