"""Scenario files: what they may hold, and what decides a trajectory or a verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from passgrid.conditions import Check
from passgrid.scenario import Scenario
from tests.unit.passgrid.suites import scenario


def test_three_mistakes_are_three_errors() -> None:
    with pytest.raises(ValidationError) as caught:
        Scenario.model_validate({"name": "a b", "task": "x", "limits": {"model_turns": 0}, "chekcs": []})
    assert {error["loc"] for error in caught.value.errors()} == {("name",), ("limits", "model_turns"), ("chekcs",)}


@pytest.mark.parametrize("given", [{}, {"task": "x", "turns": ["y"]}, {"turns": []}])
def test_user_turns_have_exactly_one_source(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Scenario.model_validate({"name": "a", **given})


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../b", "~root/x", "a\\..\\..\\b", "x\0y"])
def test_paths_stay_inside(path: str) -> None:
    with pytest.raises(ValidationError, match="leads outside"):
        Check.model_validate({"file": {"path": path, "contains": "x"}})


@pytest.mark.parametrize(
    "check",
    [
        {},
        {"final_text": {"contains": "x"}, "tool_called": {"tool": "y"}},
        {"final_text": {}},
        {"final_text": {"matches": "("}},
        {"python": "checks.py"},
        {"file": {"path": "a", "exists": False, "contains": "x"}},
    ],
)
def test_a_check_that_says_nothing_or_two_things_is_refused(check: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Check.model_validate(check)


def test_two_checks_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="final_text"):
        scenario(checks=[{"final_text": {"contains": "a"}}, {"final_text": {"contains": "b"}}])


VERDICT_CHANGES = [
    {"checks": [{"final_text": {"contains": "7"}}]},
    {"stages": {"reached": {"tool_called": {"tool": "count"}}}},
]


@pytest.mark.parametrize("change", VERDICT_CHANGES)
def test_a_check_changes_the_verdict_and_not_the_trajectory(change: dict[str, Any]) -> None:
    assert scenario(**change).trajectory_facts() == scenario().trajectory_facts()
    assert scenario(**change).verdict_hash() != scenario().verdict_hash()


@pytest.mark.parametrize("change", [{"tags": ["slow"]}, {"description": "for people"}])
def test_tags_and_descriptions_change_neither(change: dict[str, Any]) -> None:
    assert scenario(**change).trajectory_facts() == scenario().trajectory_facts()
    assert scenario(**change).verdict_hash() == scenario().verdict_hash()


@pytest.mark.parametrize(
    "change",
    [
        {"task": "How many nuts?"},
        {"limits": {"model_turns": 3}},
        {"tools": ["count"]},
        {"mcpServers": {"stock": {"command": "x"}}},
        {"workspace": {"git": True}},
    ],
)
def test_what_decides_the_course_changes_the_trajectory(change: dict[str, Any]) -> None:
    assert scenario(**change).trajectory_facts() != scenario().trajectory_facts()


def test_headers_are_in_no_hash() -> None:
    with_key = scenario(mcpServers={"s": {"url": "http://x", "headers": {"Authorization": "Bearer one"}}})
    other = scenario(mcpServers={"s": {"url": "http://x", "headers": {"Authorization": "Bearer two"}}})
    assert with_key.trajectory_facts() == other.trajectory_facts()


@given(st.text(min_size=1, max_size=40), st.integers(1, 100), st.lists(st.sampled_from("abc"), unique=True))
def test_a_scenario_survives_its_own_json(task: str, turns: int, tags: list[str]) -> None:
    original = scenario(task=task, limits={"model_turns": turns}, tags=tags)
    dumped = original.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    again = Scenario.model_validate(dumped)
    assert again.trajectory_facts() == original.trajectory_facts()
    assert again == original
