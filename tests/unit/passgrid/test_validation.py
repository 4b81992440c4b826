"""`passgrid validate`: everything wrong with a suite and its recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from passgrid.cassettes.format import write_cassette
from passgrid.scenario import Scenario
from passgrid.validation import scenario_schema, validate_path
from tests.unit.passgrid.suites import COUNTING, cassette, write_suite


def test_a_good_suite_has_no_problem(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    assert validate_path(suite) == ({"scenarios": 1, "cassettes": 2}, [])
    assert validate_path(suite / "cassettes/gpt/plain/count/0.json") == ({"cassettes": 1}, [])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"model": {"parts": [{"shrug": 1}]}}, "is not valid"),
        ({"calls": [{"call": 0, "result": 1}]}, "an answer to call 0, but the turn made 0"),
        ({"calls": [{"call": 9, "result": 1}]}, "an answer to call 9"),
        ({"song": "la"}, "is not valid"),
    ],
)
def test_a_step_that_no_recorder_writes_is_named(tmp_path: Path, step: dict[str, Any], message: str) -> None:
    suite = write_suite(tmp_path)
    path = suite / "cassettes/gpt/plain/count/0.json"
    path.write_bytes(write_cassette(cassette((*COUNTING, step))))
    _, problems = validate_path(suite)
    assert any(str(path) in problem.place and message in problem.message for problem in problems), problems


def test_what_is_neither_suite_nor_cassette_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("")
    _, (problem,) = validate_path(tmp_path / "x.txt")
    assert "neither a suite's folder" in problem.message


def test_the_published_schema_takes_what_we_take() -> None:
    demo = Path(__file__).resolve().parents[3] / "scenarios" / "demo"
    for path in demo.glob("*.yaml"):
        document = yaml.safe_load(path.read_text())
        if path.name != "suite.yaml":
            jsonschema.validate(document, scenario_schema())
            Scenario.model_validate({"name": path.stem, **document})


@pytest.mark.parametrize(
    "document", [{"task": "x", "chekcs": []}, {"task": 1}, {"task": "x", "limits": {"seconds": 0}}]
)
def test_the_published_schema_refuses_what_we_refuse(document: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, scenario_schema())
