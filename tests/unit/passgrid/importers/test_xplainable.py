"""Results of xplainable's evals: every generation, cut-off files, dropped cases, null apart from 0."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from passgrid.importers.imported_run import ImportedAttempt, ImportedRun
from passgrid.importers.xplainable import read_results
from passgrid.outcome import OutcomeKind
from passgrid.problems import InvalidInput
from tests.unit.passgrid.importers.xplainable_files import STATUS, case, older, published_run, results


def write(folder: Path, document: Any, name: str = "file.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def one_run(*paths: Path) -> ImportedRun:
    (run,) = read_results(paths).runs
    return run


def attempts(run: ImportedRun) -> list[ImportedAttempt]:
    return [attempt for arm in run.arms for attempt in arm.attempts]


@pytest.mark.parametrize("generation", [1, 2, 3, 4])
def test_every_generation_loads_and_what_it_does_not_tell_is_unknown(tmp_path: Path, generation: int) -> None:
    found = attempts(one_run(write(tmp_path, older(published_run(), generation))))
    assert [one.outcome.name for one in found] == ["failed"] * 4
    assert {one.outcome.reason for one in found} == {"report not reached"}
    assert sum(one.steps or 0 for one in found) == 240
    assert sum(one.wasted_calls or 0 for one in found) == 57
    assert found[0].cost_usd == (2.05 if generation == 1 else None)
    assert found[0].input_tokens == (500_000 if generation == 1 else None)
    assert len(found[0].tool_calls) == (0 if generation == 4 else 60)
    texts = {call.error_text for call in found[0].tool_calls if call.error}
    assert texts == {1: {"[E404] not there yet — Suggestion: wait"}, 2: texts, 3: {None}, 4: set()}[generation]
    assert bool(found[0].flags) == (generation != 4)


def test_a_stage_that_is_not_expected_is_absent_and_a_detector_is_no_part_of_the_pass(tmp_path: Path) -> None:
    document = case("telco[0]")
    del document["assertions"]["optimise"]
    document["assertions"]["immutable_drift"] = True
    (one,) = attempts(one_run(write(tmp_path, results([document], k=1))))
    assert one.outcome.kind is OutcomeKind.PASSED
    stages = {check.name: check.passed for check in one.checks if check.stage}
    assert len(stages) == 9
    assert "optimise" not in stages
    assert list(one.flags) == ["immutable_drift"]


def test_null_stays_apart_from_zero(tmp_path: Path) -> None:
    scores = {"step_count": None, "wasted_calls": 0}
    free = {"input_tokens": 0, "output_tokens": None, "cost_usd": 0.0}
    documents = [case("a[0]", usage=free, scores=scores, tool_calls=None), case("a[1]", duration=None, usage=None)]
    first, second = attempts(one_run(write(tmp_path, results(documents, k=2))))
    assert (first.cost_usd, first.input_tokens, first.output_tokens) == (0.0, 0, None)
    assert (first.steps, first.wasted_calls) == (None, 0)
    assert (second.cost_usd, second.duration_s, second.steps) == (None, None, 0)


def test_a_case_whose_task_raised_is_dropped_by_that_tool_and_is_named_here(tmp_path: Path) -> None:
    found = attempts(one_run(write(tmp_path, results([case("telco[0]"), case("telco[3]"), case("fraud[1]")], k=4))))
    assert len(found) == 8
    lost = [one for one in found if not one.outcome.valid]
    assert [(one.scenario, one.sample) for one in lost] == [
        ("telco", 1), ("telco", 2), ("fraud", 0), ("fraud", 2), ("fraud", 3),
    ]  # fmt: skip
    assert {one.outcome.name for one in lost} == {"infra_error(lost)"}
    assert "telco[1] is not in the file: that tool drops a case" in lost[0].outcome.reason


@pytest.mark.parametrize("packed", [False, True])
def test_a_truncated_file_names_the_case_it_lost(tmp_path: Path, packed: bool) -> None:
    text = json.dumps(published_run()).encode()
    cut = text[: text.rindex(b'"telco_churn[3]"') + 300]
    path = tmp_path / "cut.json"
    path.write_bytes(gzip.compress(cut) if packed else cut)
    found = read_results([path])
    (run,) = found.runs
    *whole, last = attempts(run)
    assert [one.outcome.valid for one in whole] == [True] * 3
    assert last.outcome.reason == "case telco_churn[3] cannot be read: the file ends in the middle of it"
    assert (run.wanted, run.k) == (4, 4)
    assert "was cut off" in found.notes[0]


@pytest.mark.parametrize("at", [b', {"name": "telco_churn[2]"', b'"name": "telco_churn[2]"', b'churn[2]"'])
def test_a_cut_between_cases_loses_only_those_after_it(tmp_path: Path, at: bytes) -> None:
    text = json.dumps(published_run()).encode()
    path = tmp_path / "cut.json"
    path.write_bytes(text[: text.index(at)])
    found = attempts(one_run(path))
    assert [one.outcome.valid for one in found] == [True, True, False, False]
    assert "telco_churn[2] is not in the file: the file ends before it" in found[2].outcome.reason


def test_a_file_that_only_lacks_its_last_brackets_lost_no_case(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(json.dumps(published_run()).encode()[:-2])
    assert all(one.outcome.valid for one in attempts(one_run(path)))


def test_limits_errors_of_providers_and_of_agents_are_told_apart(tmp_path: Path) -> None:
    missed = ("report",)
    errors = [
        case("a[0]", missed, usage_limit_hit=True),
        case("a[1]", missed, error="ModelHTTPError: status_code: 429, model_name: m"),
        case("a[2]", missed, error="UnexpectedModelBehavior: too many retries\nof it"),
    ]
    found = attempts(one_run(write(tmp_path, results(errors, k=3))))
    assert [one.outcome.name for one in found] == ["limit", "infra_error(rate_limit)", "failed"]
    assert found[2].outcome.reason == "report not reached; UnexpectedModelBehavior: too many retries of it"


def test_files_of_one_label_are_one_run_and_the_same_arm_again_is_another(tmp_path: Path) -> None:
    first = write(tmp_path, results([case("a[0]")], k=1), "1.json")
    other = write(tmp_path, results([case("a[0]")], k=1, model="openai:gpt-5"), "2.json")
    again = write(tmp_path, results([case("a[0]", ("report",))], k=1), "3.json")
    runs = read_results([first, other, again], suite="ml").runs
    assert [[arm.model for arm in run.arms] for run in runs] == [
        ["anthropic:claude-sonnet-4-6", "openai:gpt-5"],
        ["anthropic:claude-sonnet-4-6"],
    ]
    assert attempts(runs[0])[0].suite == "ml"
    assert (runs[0].harness, runs[0].arms[0].target) == ({"xplainable_client": "1.4.0"}, "local")


def test_polling_is_found_without_arguments_and_secrets_are_not_taken_over(tmp_path: Path) -> None:
    calls = [{"name": STATUS, "error": True, "error_text": "key sk-ant-api03-" + "x" * 40}] * 12
    (one,) = attempts(one_run(write(tmp_path, results([case("a[0]", calls=calls)], k=1))))
    assert f"12 of 12 calls are to {STATUS}" in one.flags["endless_polling"]
    assert "x" * 40 not in str(one.tool_calls)


def test_every_problem_of_every_file_is_told(tmp_path: Path) -> None:
    paths = [tmp_path / "nothing.json", write(tmp_path, [], "list.json"), write(tmp_path, {"cases": []}, "bare.json")]
    paths.append(write(tmp_path, results([case("a[0]"), case("a[0]")]), "twice.json"))
    (tmp_path / "text.json").write_text("hello")
    with pytest.raises(InvalidInput) as error:
        read_results([*paths, tmp_path / "text.json"])
    text = str(error.value)
    for expected in (
        "no such file",
        "is no results file",
        "label: Field required",
        "a[0] is there twice",
        "is no JSON",
    ):
        assert expected in text


def test_a_case_that_says_too_little_is_no_failure(tmp_path: Path) -> None:
    bare = case("a[0]") | {"assertions": {"immutable_drift": False}}
    broken = case("a[1]") | {"assertions": "none"}
    first, second = attempts(one_run(write(tmp_path, results([bare, broken], k=2))))
    assert first.outcome.name == "infra_error(unreadable)"
    assert "a[1] cannot be read: cases[1].assertions" in second.outcome.reason
