"""The verdict on a finished attempt: each check and stage of its scenario over the evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from passgrid.conditions import Check
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
        passed, detail = _JUDGES[check.kind](check, evidence, code)
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


def _final_text(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.final_text is not None
    return texts.match_text(check.final_text, evidence.final_text)


def _said(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.said is not None
    return texts.match_text(check.said, evidence.said)


def _tool_called(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.tool_called is not None
    return calls.called(check.tool_called, evidence)


def _tool_never_called(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.tool_never_called is not None
    return calls.never_called(check.tool_never_called, evidence)


def _tools_in_order(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.tools_in_order is not None
    return calls.in_order(check.tools_in_order, evidence)


def _tool_result(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.tool_result is not None
    return calls.result(check.tool_result, evidence)


def _file(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.file is not None
    return ends.file(check.file, evidence)


def _artifact(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.artifact is not None
    return ends.artifact(check.artifact, evidence)


def _read_back(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.read_back is not None
    return ends.read_back(check.read_back, check.shown_name, evidence)


def _end_state(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.end_state is not None
    return ends.end_state(check.end_state, evidence)


def _python(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.python is not None
    answer = code.function(check.python)(evidence)
    if isinstance(answer, bool):
        return answer, "it returned False"
    if isinstance(answer, str):
        return False, answer
    if answer is None:
        return True, ""
    return None, f"it returned {type(answer).__name__}: return True, False, None (passed) or a text (why not)"


def _evaluator(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.evaluator is not None
    # Brings the library of evaluators in, with all of its tracing: only where there is one.
    from passgrid.scoring.evaluators import evaluated

    return evaluated(check.evaluator, evidence, code)


def _recorded_verdict(check: Check, evidence: Evidence, code: SuiteCode) -> Verdict:
    assert check.recorded_verdict is not None
    verdict = evidence.verdicts.get(check.recorded_verdict)
    if verdict is None:
        return None, "the recording holds no such verdict"
    return bool(verdict == 1 or verdict is True), f"recorded as {verdict}"


_JUDGES: Mapping[str, Callable[[Check, Evidence, SuiteCode], Verdict]] = {
    "final_text": _final_text,
    "said": _said,
    "tool_called": _tool_called,
    "tool_never_called": _tool_never_called,
    "tools_in_order": _tools_in_order,
    "tool_result": _tool_result,
    "file": _file,
    "artifact": _artifact,
    "read_back": _read_back,
    "end_state": _end_state,
    "python": _python,
    "evaluator": _evaluator,
    "recorded_verdict": _recorded_verdict,
}
