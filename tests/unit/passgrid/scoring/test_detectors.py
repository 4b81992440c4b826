"""Twelve silent failures that a check counting calls would pass, each with its healthy twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from passgrid.scoring.detectors import detected
from passgrid.scoring.evidence import Evidence
from passgrid.suite_code import SuiteCode
from passgrid.transcript import ToolCallRecord
from tests.unit.passgrid.suites import scenario


@dataclass(frozen=True)
class Case:
    """What tools answered and what the agent said: once it is odd, once it is not."""

    flag: str
    odd: list[tuple[str, Any, Any]]
    odd_says: str
    healthy: list[tuple[str, Any, Any]]
    healthy_says: str


class Failed(str):
    """An error a tool answered with."""


def rows(*values: Any, key: str = "prediction") -> list[dict[str, Any]]:
    return [{"id": i, key: value} for i, value in enumerate(values)]


CASES = {
    "a model that predicts one thing for everybody": Case(
        "identical_rows",
        [("predict", {"n": 5}, {"rows": rows("churn", "churn", "churn", "churn", "churn")})], "Predicted for all 5.",
        [("predict", {"n": 5}, {"rows": rows("churn", "stay", "stay", "churn", "stay")})], "Predicted for all 5.",
    ),
    "a join that repeats one row": Case(
        "identical_rows",
        [("query", {}, '[{"city": "Oslo", "sales": 3}, {"city": "Oslo", "sales": 3}, {"city": "Oslo", "sales": 3},'
          ' {"city": "Oslo", "sales": 3}]')], "Here is the table.",
        [("query", {}, '[{"city": "Oslo", "sales": 3}, {"city": "Rome", "sales": 3}, {"city": "Bonn", "sales": 4},'
          ' {"city": "Nice", "sales": 3}]')], "Here is the table.",
    ),
    "probabilities that are all 0 or 1": Case(
        "saturated_probabilities",
        [("score", {}, rows(0.0, 1.0, 1.0, 0.0002, 0.9999, 1.0, key="probability"))], "The model is sure.",
        [("score", {}, rows(0.1, 0.93, 0.6, 0.2, 0.71, 0.4, key="probability"))], "The model is not sure.",
    ),
    "a column of saturated scores": Case(
        "saturated_probabilities",
        [("evaluate", {}, {"scores": [1, 1, 1, 1, 1, 0, 1, 1, 1, 1]})], "Evaluated.",
        [("evaluate", {}, {"scores": [0.8, 0.7, 0.91, 0.99, 0.4, 0.2, 0.6, 1, 0.9, 0.5]})], "Evaluated.",
    ),
    "a record that was made anew instead of changed": Case(
        "immutable_changed",
        [("get", {"id": 7}, {"id": 7, "created_at": "2026-01-01", "state": "draft"}),
         ("update", {"id": 7}, {"id": 7, "created_at": "2026-11-30", "state": "live"})], "Updated.",
        [("get", {"id": 7}, {"id": 7, "created_at": "2026-01-01", "state": "draft"}),
         ("update", {"id": 7}, {"id": 7, "created_at": "2026-01-01", "state": "live"})], "Updated.",
    ),
    "answers that cost nothing": Case(
        "zero_cost_answers",
        [("optimise", {}, {"plans": [{"plan": "a", "cost": 0}, {"plan": "b", "cost": 0.0}]})], "Both plans are ready.",
        [("optimise", {}, {"plans": [{"plan": "a", "cost": 12.5}, {"plan": "b", "cost": 0}]})], "Both plans are ready.",
    ),
    "one status asked for without end": Case(
        "endless_polling",
        [("status", {"job": 1}, {"state": "running", "progress": i}) for i in range(14)], "It is running.",
        [("status", {"job": i}, {"state": "done", "job": i}) for i in range(14)], "All jobs are done.",
    ),
    "the same search made over and over": Case(
        "repeated_call",
        [("search", {"q": "bolt"}, [])] * 3, "There are none.",
        [("search", {"q": "bolt"}, []), ("search", {"q": "bolts"}, []), ("search", {"q": "screw"}, [])],
        "There are none.",
    ),
    "an error nobody speaks of": Case(
        "error_ignored",
        [("read", {}, "42 rows"), ("save", {"to": "a"}, Failed("disk full"))], "I read the rows and saved them.",
        [("read", {}, "42 rows"), ("save", {"to": "a"}, Failed("disk full")), ("save", {"to": "b"}, "saved")],
        "I read the rows and saved them.",
    ),
    "an error told as a success": Case(
        "error_ignored",
        [("deploy", {}, Failed("[QUOTA] no room. Suggestion: delete one"))], "The model is deployed.",
        [("deploy", {}, Failed("[QUOTA] no room. Suggestion: delete one"))],
        "The model could not be deployed: there is no room.",
    ),
    "a number out of nowhere": Case(
        "unsupported_answer",
        [("sales", {"year": 2025}, {"north": 120, "south": 80})], "Sales were 3,170 in 2025.",
        [("sales", {"year": 2025}, {"north": 120, "south": 80})], "Sales were 200 in 2025: 60 % in the north.",
    ),
    "an answer although every tool failed": Case(
        "unsupported_answer",
        [("sales", {}, Failed("timed out"))], "Unfortunately one call failed, but sales were 412.",
        [("sales", {}, Failed("timed out"))], "Unfortunately the call failed, so I do not know the sales.",
    ),
}  # fmt: skip


def evidence(calls: list[tuple[str, Any, Any]], says: str, **changes: Any) -> Evidence:
    records = tuple(
        ToolCallRecord(
            turn=i + 1, server="s", tool=tool, arguments=arguments, result=result, answered="live",
            error=isinstance(result, Failed), error_text=result if isinstance(result, Failed) else None,
            started_ms=0, duration_ms=1, asked=i, answered_at=i,
        )
        for i, (tool, arguments, result) in enumerate(calls)
    )  # fmt: skip
    messages = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": says}]
    return Evidence(scenario(**changes), messages, records, {}, {})


def flags(found: Evidence, files: dict[str, bytes] | None = None) -> list[str]:
    return [flag.name for flag in detected(found, SuiteCode(files or {}))]


@pytest.mark.parametrize("name", CASES)
def test_a_silent_failure_is_found_by_its_detector(name: str) -> None:
    case = CASES[name]
    assert case.flag in flags(evidence(case.odd, case.odd_says))


@pytest.mark.parametrize("name", CASES)
def test_its_healthy_twin_raises_none(name: str) -> None:
    case = CASES[name]
    assert flags(evidence(case.healthy, case.healthy_says)) == []


def test_a_detector_can_be_switched_off_for_a_scenario() -> None:
    case = CASES["answers that cost nothing"]
    assert flags(evidence(case.odd, case.odd_says, detectors={"off": ["zero_cost_answers"]})) == []


def test_a_scenario_names_its_own_immutable_fields() -> None:
    calls: list[tuple[str, Any, Any]] = [("get", {}, {"id": 1, "owner": "ann"}), ("get", {}, {"id": 1, "owner": "bob"})]
    assert flags(evidence(calls, "Done.")) == []
    assert flags(evidence(calls, "Done.", detectors={"immutable": ["owner"]})) == ["immutable_changed"]


def test_a_suite_brings_detectors_of_its_own_and_one_that_raises_says_so() -> None:
    code = b"""
from passgrid import detector

@detector("too_short")
def too_short(evidence):
    return "says hardly anything" if len(evidence.final_text) < 10 else None

@detector("broken")
def broken(evidence):
    return 1 / 0
"""
    found = detected(evidence([], "Done."), SuiteCode({"checks.py": code}))
    assert [(flag.name, flag.detail) for flag in found] == [
        ("too_short", "says hardly anything"),
        ("broken", "the detector itself failed: ZeroDivisionError: division by zero"),
    ]
