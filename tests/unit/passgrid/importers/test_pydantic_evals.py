"""Reports of pydantic-evals, as the library itself writes them, and datasets as suites."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_evals import Case, Dataset, increment_eval_metric
from pydantic_evals.evaluators import Contains, EqualsExpected, Evaluator, EvaluatorContext
from pydantic_evals.reporting import EvaluationReportAdapter

from passgrid.importers.pydantic_evals_dataset import import_dataset
from passgrid.importers.pydantic_evals_report import read_reports
from passgrid.importers.score_rule import ScoreRule
from passgrid.library import load_suite
from passgrid.problems import InvalidInput

ANY = ScoreRule()


@dataclass
class Length(Evaluator[Any, Any, Any]):
    """A score and a label."""

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, float | str]:
        return {"length": len(str(ctx.output)) / 10, "kind": "short"}


@dataclass
class Raises(Evaluator[Any, Any, Any]):
    """An evaluator that breaks."""

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        raise LookupError("no such thing")


def answer(inputs: str) -> str:
    increment_eval_metric("requests", 2)
    increment_eval_metric("cost", 0.25)
    if inputs == "raise":
        raise RuntimeError("the task broke")
    return inputs.upper()


def report(path: Path, *evaluators: Evaluator[Any, Any, Any], repeat: int = 1, metadata: Any = None) -> Path:
    cases = [Case(name=name, inputs=name, expected_output=name.upper()) for name in ("paris", "raise")]
    dataset = Dataset[Any, Any, Any](name="capitals", cases=cases, evaluators=list(evaluators))
    made = dataset.evaluate_sync(answer, name="july", progress=False, repeat=repeat, metadata=metadata)
    path.write_bytes(EvaluationReportAdapter.dump_json(made))
    return path


def test_every_assertion_has_to_be_true_and_a_task_that_raised_is_no_failure(tmp_path: Path) -> None:
    path = report(tmp_path / "r.json", EqualsExpected(), Length(), repeat=2, metadata={"model": "openai:gpt-5"})
    (run,) = read_reports([path], ANY).runs
    (arm,) = run.arms
    assert (run.label, run.wanted, run.k, arm.model) == ("july", 4, 2, "openai:gpt-5")
    assert [(one.suite, one.scenario, one.sample, one.outcome.name) for one in arm.attempts] == [
        ("capitals", "paris", 0, "passed"), ("capitals", "paris", 1, "passed"),
        ("capitals", "raise", 0, "infra_error(task_raised)"), ("capitals", "raise", 1, "infra_error(task_raised)"),
    ]  # fmt: skip
    first = arm.attempts[0]
    assert (first.model_turns, first.cost_usd, first.input_tokens, first.steps) == (2, 0.25, None, None)
    assert {check.name: (check.passed, check.required, check.kind) for check in first.checks} == {
        "EqualsExpected": (True, True, "assertion"), "length": (None, False, "score"), "kind": (None, False, "label"),
    }  # fmt: skip
    assert "the task broke" in arm.attempts[2].outcome.reason


def test_a_score_may_decide_instead(tmp_path: Path) -> None:
    path = report(tmp_path / "r.json", Length())
    (run,) = read_reports([path], ScoreRule("length", 0.5), suite="mine", model="m").runs
    assert (run.arms[0].model, run.arms[0].attempts[0].suite) == ("m", "mine")
    assert run.arms[0].attempts[0].outcome.passed
    (run,) = read_reports([path], ScoreRule("length", 0.6)).runs
    assert (run.arms[0].model, run.arms[0].attempts[0].outcome.reason) == ("unknown", "length is 0.5")


def test_an_evaluator_that_raised_decides_nothing(tmp_path: Path) -> None:
    (run,) = read_reports([report(tmp_path / "r.json", EqualsExpected(), Raises())], ANY).runs
    one = run.arms[0].attempts[0]
    assert one.outcome.name == "infra_error(evaluator_failed)"
    assert "no such thing" in one.outcome.reason


def test_a_false_assertion_is_named(tmp_path: Path) -> None:
    (run,) = read_reports([report(tmp_path / "r.json", Contains(value="ROME"))], ANY).runs
    assert run.arms[0].attempts[0].outcome.reason == "not true: Contains"


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"name": "x"}')
    with pytest.raises(InvalidInput, match=r"r.json: cases: Field required \(write it with EvaluationReportAdapter"):
        read_reports([tmp_path / "r.json"], ANY)


@pytest.mark.parametrize("kind", ["yaml", "json"])
def test_a_dataset_as_the_library_writes_it_becomes_a_suite(tmp_path: Path, kind: str) -> None:
    cases = [
        Case(
            name="The capital of France?",
            inputs="What is it?",
            expected_output="Paris",
            metadata={"description": "easy"},
        ),
        Case(inputs={"question": "Rome?"}, evaluators=(Contains(value="Rome"), Contains(value="Italy"))),
        Case(name="numbers", inputs={"a": 1, "b": [2]}),
    ]
    dataset = Dataset[Any, Any, Any](name="capitals", cases=cases, evaluators=[EqualsExpected(), Length()])
    file = tmp_path / f"cases.{kind}"
    dataset.to_file(file, schema_path=None)
    made = import_dataset(file, tmp_path / "suites", "capitals")
    assert made.scenarios == 3
    assert made.notes == (f"define Length in {made.folder / 'checks.py'}: evaluators of your own",)
    (made.folder / "checks.py").write_text("class Length: pass\n")
    suite = load_suite(made.folder)
    by_name = {scenario.name: scenario for scenario in suite.scenarios}
    france = by_name["The-capital-of-France"]
    assert (france.task, france.description) == ("What is it?", "easy")
    assert [(one.evaluator.name, one.evaluator.expected_output) for one in france.checks if one.evaluator] == [
        ("EqualsExpected", "Paris"), ("checks.py:Length", "Paris"),
    ]  # fmt: skip
    rome = next(one for name, one in by_name.items() if name not in ("The-capital-of-France", "numbers"))
    assert rome.task == "Rome?"
    contains = [one for one in rome.checks if one.evaluator and one.evaluator.name == "Contains"]
    assert [one.evaluator.arguments["value"] for one in contains if one.evaluator] == ["Rome", "Italy"]
    assert by_name["numbers"].task is not None
    assert '"a": 1' in by_name["numbers"].task


def test_mistakes_of_a_dataset_are_told_together_and_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text("name: x\ncases:\n- name: a\n  inputs: b\n  evaluators:\n  - Contains: {word: b}\n")
    with pytest.raises(InvalidInput) as error:
        import_dataset(file, tmp_path / "out", "no good/name")
    assert "cannot be the name of a folder" in str(error.value)
    assert "Contains has no argument word (there are: value" in str(error.value)
    assert not (tmp_path / "out").exists()
    file.write_text("name: x\ncases: []\n")
    with pytest.raises(InvalidInput, match=r"cases.yaml:2: cases"):
        import_dataset(file, tmp_path / "out", "fine")


def test_a_rubric_of_a_dataset_becomes_the_judge_and_no_check_that_buys(tmp_path: Path) -> None:
    file = tmp_path / "cases.yaml"
    file.write_text(
        "name: x\ncases:\n- name: a\n  inputs: b\n  evaluators:\n  - LLMJudge: {rubric: It is polite.}\n"
        "  - LLMJudge: {rubric: It is short., model: 'openai:gpt-5-mini'}\n  - Contains: {value: b}\n"
    )
    made = import_dataset(file, tmp_path / "suites", "polite")
    (scenario,) = load_suite(made.folder).scenarios
    assert scenario.judge is not None
    assert (scenario.judge.model, scenario.judge.rubric) == ("openai:gpt-5.2", "It is polite.")
    assert [check.evaluator.name for check in scenario.checks if check.evaluator] == ["Contains"]
    assert "2 evaluators ask a model: 1 scenarios have the first rubric as their judge" in made.notes[0]
