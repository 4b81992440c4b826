"""The first vocabulary of checks."""

from __future__ import annotations

from typing import Any

import pytest

from passgrid.scoring.checks import CheckResult, Evidence, all_required_passed, run_checks
from passgrid.suite_code import SuiteCode
from passgrid.transcript import ToolCallRecord
from tests.unit.passgrid.suites import scenario

CODE = b"""
def passes(evidence):
    return None

def counts(evidence):
    return len(evidence.tool_calls) == 2

def explains(evidence):
    return "too few bolts"

def breaks(evidence):
    return 1 / 0

def confused(evidence):
    return 7
"""


def call(tool: str, arguments: Any, error: bool = False, server: str = "stock") -> ToolCallRecord:
    return ToolCallRecord(1, server, tool, arguments, "x", "recorded", error, "no" if error else None, 0, 1, 0, 0)


CALLS = (call("count", {"item": "bolts", "n": 2}), call("order", {"item": "nuts"}, error=True))


def check(definition: dict[str, Any], text: str = "there are 5 bolts", calls: Any = CALLS) -> CheckResult:
    of = scenario(checks=[definition])
    messages = [{"role": "assistant", "content": text}]
    evidence = Evidence(of, messages, tuple(calls), {"a.txt": "hello"}, {"reward": 1.0, "other": 0.0})
    (result,) = run_checks(of, evidence, SuiteCode({"checks.py": CODE}))
    return result


@pytest.mark.parametrize(
    "definition",
    [
        {"final_text": {"contains": "5"}},
        {"final_text": {"contains": ["5", "bolts"]}},
        {"final_text": {"equals": "there are 5 bolts"}},
        {"final_text": {"matches": r"\b\d+ bolts$"}},
        {"tool_called": {"tool": "count"}},
        {"tool_called": {"tool": "count", "arguments": {"n": 2.0}, "server": "stock"}},
        {"tool_called": {"tool": "order", "succeeded": False}},
        {"file": {"path": "a.txt", "equals": "hello"}},
        {"file": {"path": "b.txt", "exists": False}},
        {"python": "checks.py:passes"},
        {"python": "checks.py:counts"},
        {"recorded_verdict": "reward"},
    ],
)
def test_passes(definition: dict[str, Any]) -> None:
    result = check(definition)
    assert (result.passed, result.detail) == (True, "")


@pytest.mark.parametrize(
    ("definition", "detail"),
    [
        ({"final_text": {"contains": ["5", "nuts"]}}, "does not contain 'nuts'"),
        ({"final_text": {"equals": "there are 6 bolts"}}, 'expected "there are 6 bolts", got "there are 5 bolts"'),
        ({"final_text": {"matches": "^5"}}, "does not match '^5'"),
        ({"tool_called": {"tool": "delete"}}, "delete was never called"),
        ({"tool_called": {"tool": "count", "server": "other"}}, "count was never called"),
        ({"tool_called": {"tool": "count", "arguments": {"n": "2"}}}, 'n: expected "2", got 2'),
        ({"tool_called": {"tool": "count", "arguments": {"m": 1}}}, "argument m is missing"),
        ({"tool_called": {"tool": "order"}}, "it ended in an error"),
        ({"file": {"path": "a.txt", "contains": "bye"}}, "does not contain 'bye'"),
        ({"file": {"path": "b.txt", "contains": "x"}}, "b.txt does not exist"),
        ({"file": {"path": "a.txt", "exists": False}}, "a.txt exists"),
        ({"python": "checks.py:explains"}, "too few bolts"),
        ({"recorded_verdict": "other"}, "recorded as 0.0"),
    ],
)
def test_does_not_pass_and_says_why(definition: dict[str, Any], detail: str) -> None:
    result = check(definition)
    assert result.passed is False
    assert detail in result.detail


@pytest.mark.parametrize(
    ("definition", "detail"),
    [
        ({"python": "checks.py:breaks"}, "ZeroDivisionError"),
        ({"python": "checks.py:confused"}, "it returned int"),
        ({"python": "checks.py:nothing"}, "checks.py has no function nothing"),
        ({"recorded_verdict": "unknown"}, "holds no such verdict"),
    ],
)
def test_a_check_that_cannot_be_made_is_neither_passed_nor_failed(definition: dict[str, Any], detail: str) -> None:
    result = check(definition)
    assert result.passed is None
    assert detail in result.detail
    assert not all_required_passed((result,))


def test_a_stage_or_an_optional_check_decides_nothing() -> None:
    of = scenario(
        checks=[{"final_text": {"contains": "no"}, "required": False}],
        stages={"one": {"final_text": {"contains": "no"}}},
    )
    results = run_checks(of, Evidence(of, [], (), {}, {}), SuiteCode({}))
    assert [result.passed for result in results] == [False, False]
    assert all_required_passed(results)


def test_an_imported_verdict_is_labelled() -> None:
    assert check({"recorded_verdict": "reward"}).imported
    assert not check({"final_text": {"contains": "5"}}).imported
