"""The verdict on a finished attempt: each check and stage of its scenario over the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from passgrid.conditions import Check, Evaluator
from passgrid.judge import Judge
from passgrid.scenario import Scenario
from passgrid.scoring import calls, ends, texts
from passgrid.scoring.evidence import Evidence
from passgrid.scoring.judging import opinion
from passgrid.scoring.verdict import Verdict
from passgrid.suite_code import SuiteCode

CHECK_MARK = "passgrid_check"

_Function = TypeVar("_Function", bound=Callable[[Evidence], bool | str | None])


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check or stage found."""

    name: str
    kind: str
    stage: bool
    required: bool
    passed: bool | None
    """None: the check could not be made; never counted as passed."""
    detail: str
    """One line: what was found instead, empty when passed."""
    imported: bool = False
    """Whether another tool gave this verdict."""


def check(function: _Function) -> _Function:
    """Mark a function of a suite as a check: it gets the evidence, and returns True, False, None (passed) or a text."""
    setattr(function, CHECK_MARK, function.__name__)
    return function


def run_checks(scenario: Scenario, evidence: Evidence, code: SuiteCode) -> tuple[CheckResult, ...]:
    """Every check and stage of the scenario, in order. A check that raises did not pass, and says why."""
    named = [(check.shown_name, check, False) for check in scenario.checks]
    named += [(name, check, True) for name, check in scenario.stages.items()]
    made = [one for one in named if evidence.mode in one[1].only or not one[1].only or not evidence.mode]
    found = tuple(_run(name, check, stage, evidence, code) for name, check, stage in made)
    return found if scenario.judge is None else (*found, _second_opinion(scenario.judge, evidence))


def _second_opinion(judge: Judge, evidence: Evidence) -> CheckResult:
    passed, detail = opinion(judge, evidence)
    return CheckResult("judge", "judge", stage=False, required=False, passed=passed, detail=detail)


def all_required_passed(results: tuple[CheckResult, ...]) -> bool:
    """Whether every required check passed; stages are milestones, not conditions."""
    return all(result.passed is True for result in results if result.required and not result.stage)


def _run(name: str, check: Check, stage: bool, evidence: Evidence, code: SuiteCode) -> CheckResult:
    try:
        passed, detail = _JUDGES[check.kind](getattr(check, check.kind), name, evidence, code)
    except Exception as error:  # noqa: BLE001 - a suite's own code may raise anything; that is its result
        passed, detail = None, f"the check itself failed: {type(error).__name__}: {error}"
    return CheckResult(
        name=name,
        kind=check.kind,
        stage=stage,
        required=check.required,
        passed=passed,
        detail="" if passed else detail[:500],
        imported=check.kind == "recorded_verdict",
    )


def _python(reference: str, evidence: Evidence, code: SuiteCode) -> Verdict:
    answer = code.function(reference)(evidence)
    if isinstance(answer, bool):
        return answer, "it returned False"
    if isinstance(answer, str):
        return False, answer
    if answer is None:
        return True, ""
    return None, f"it returned {type(answer).__name__}: return True, False, None (passed) or a text (why not)"


def _evaluator(wanted: Evaluator, evidence: Evidence, code: SuiteCode) -> Verdict:
    # Brings the library of evaluators in, with all of its tracing: only where there is one.
    from passgrid.scoring.evaluators import evaluated

    return evaluated(wanted, evidence, code)


def _recorded_verdict(name: str, evidence: Evidence) -> Verdict:
    verdict = evidence.verdicts.get(name)
    if verdict is None:
        return None, "the recording holds no such verdict"
    return bool(verdict == 1 or verdict is True), f"recorded as {verdict}"


_JUDGES: Mapping[str, Callable[[Any, str, Evidence, SuiteCode], Verdict]] = {
    "final_text": lambda wanted, _, evidence, code: texts.match_text(wanted, evidence.final_text),
    "said": lambda wanted, _, evidence, code: texts.match_text(wanted, evidence.said),
    "tool_called": lambda wanted, _, evidence, code: calls.called(wanted, evidence),
    "tool_never_called": lambda wanted, _, evidence, code: calls.never_called(wanted, evidence),
    "tools_in_order": lambda wanted, _, evidence, code: calls.in_order(wanted, evidence),
    "tool_result": lambda wanted, _, evidence, code: calls.result(wanted, evidence),
    "file": lambda wanted, _, evidence, code: ends.file(wanted, evidence),
    "artifact": lambda wanted, _, evidence, code: ends.artifact(wanted, evidence),
    "read_back": lambda wanted, name, evidence, code: ends.read_back(wanted, name, evidence),
    "end_state": lambda wanted, _, evidence, code: ends.end_state(wanted, evidence),
    "python": lambda wanted, _, evidence, code: _python(wanted, evidence, code),
    "evaluator": lambda wanted, _, evidence, code: _evaluator(wanted, evidence, code),
    "recorded_verdict": lambda wanted, _, evidence, code: _recorded_verdict(wanted, evidence),
}
"""By kind, what judges its value, under the name of the check or stage; a test tries every kind there is."""
