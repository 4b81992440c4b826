"""The verdict on a finished attempt: each check over its transcript, calls, final text and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.differences import EXPECTATION, first_difference
from passgrid.json_values import is_object
from passgrid.scenario import Check, FileCheck, Scenario, TextMatch, ToolCalled
from passgrid.suite_code import SuiteCode
from passgrid.transcript import Message, ToolCallRecord, final_text


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at."""

    scenario: Scenario
    messages: list[Message]
    tool_calls: tuple[ToolCallRecord, ...]
    files: Mapping[str, str]
    """Text by path of the workspace at the end; empty without a workspace."""
    verdicts: Mapping[str, Any]
    """Verdicts of other tools, from the cassette."""

    @property
    def final_text(self) -> str:
        """The agent's last words."""
        return final_text(self.messages)


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


def run_checks(scenario: Scenario, evidence: Evidence, code: SuiteCode) -> tuple[CheckResult, ...]:
    """Every check and stage of the scenario, in order. A check that raises did not pass, and says why."""
    named = [(check.shown_name, check, False) for check in scenario.checks]
    named += [(name, check, True) for name, check in scenario.stages.items()]
    return tuple(_run(name, check, stage, evidence, code) for name, check, stage in named)


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


_Verdict = tuple[bool | None, str]


def _final_text(check: Check, evidence: Evidence, code: SuiteCode) -> _Verdict:
    assert check.final_text is not None
    return match_text(check.final_text, evidence.final_text)


def match_text(match: TextMatch, text: str) -> _Verdict:
    """Whether a text is what is asked, and if not, what is missing."""
    if match.equals is not None and text != match.equals:
        return False, first_difference(match.equals, text, "text", EXPECTATION) or "the texts differ"
    wanted = (match.contains,) if isinstance(match.contains, str) else match.contains or ()
    for part in wanted:
        if part not in text:
            return False, f"does not contain {part!r}"
    if match.matches is not None and re.search(match.matches, text) is None:
        return False, f"does not match {match.matches!r}"
    return True, ""


def _tool_called(check: Check, evidence: Evidence, code: SuiteCode) -> _Verdict:
    assert check.tool_called is not None
    wanted = check.tool_called
    calls = [call for call in evidence.tool_calls if call.tool == wanted.tool and wanted.server in {None, call.server}]
    if not calls:
        return False, f"{wanted.tool} was never called"
    differences = [_call_difference(wanted, call) for call in calls]
    if None in differences:
        return True, ""
    return False, f"called {len(calls)} times, never as asked; at last {differences[-1]}"


def _call_difference(wanted: ToolCalled, call: ToolCallRecord) -> str | None:
    if wanted.succeeded and call.error:
        return "it ended in an error"
    arguments = call.arguments
    if not is_object(arguments):
        return "its arguments are not an object"
    for name, value in wanted.arguments.items():
        if name not in arguments:
            return f"argument {name} is missing"
        if difference := first_difference(value, arguments[name], name, EXPECTATION):
            return difference
    return None


def _file(check: Check, evidence: Evidence, code: SuiteCode) -> _Verdict:
    assert check.file is not None
    wanted: FileCheck = check.file
    text = evidence.files.get(wanted.path)
    if not wanted.exists:
        return text is None, f"{wanted.path} exists"
    if text is None:
        return False, f"{wanted.path} does not exist"
    return match_text(wanted, text)


def _python(check: Check, evidence: Evidence, code: SuiteCode) -> _Verdict:
    assert check.python is not None
    answer = code.function(check.python)(evidence)
    if isinstance(answer, bool):
        return answer, "it returned False"
    if isinstance(answer, str):
        return False, answer
    if answer is None:
        return True, ""
    return None, f"it returned {type(answer).__name__}: return True, False, None (passed) or a text (why not)"


def _recorded_verdict(check: Check, evidence: Evidence, code: SuiteCode) -> _Verdict:
    assert check.recorded_verdict is not None
    verdict = evidence.verdicts.get(check.recorded_verdict)
    if verdict is None:
        return None, "the recording holds no such verdict"
    return bool(verdict == 1 or verdict is True), f"recorded as {verdict}"


_JUDGES: Mapping[str, Callable[[Check, Evidence, SuiteCode], _Verdict]] = {
    "final_text": _final_text,
    "tool_called": _tool_called,
    "file": _file,
    "python": _python,
    "recorded_verdict": _recorded_verdict,
}
