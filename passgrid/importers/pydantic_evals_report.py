"""Reports of pydantic-evals as JSON (`EvaluationReportAdapter.dump_json`), read by the library itself.

A report is one arm. A case is a scenario; with `repeat` its runs are the samples. It passed when every assertion is
true, or, with `--score`, when that score is a pass. A case whose task raised, and one that no assertion decides, is an
infra error: wanted, not valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_evals.reporting import EvaluationReport, EvaluationReportAdapter, ReportCase, ReportCaseFailure

from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedCheck
from passgrid.importers.result_file import ResultFile, Results, file_bytes, results_of
from passgrid.importers.score_rule import ScoreRule, as_number, deciding_score, flat_scores
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.problems import InvalidInput, Problem
from passgrid.transcript import Message

SOURCE = "pydantic-evals"
UNKNOWN_MODEL = "unknown"

_Report = EvaluationReport[Any, Any, Any]
_Case = ReportCase[Any, Any, Any]
_Failure = ReportCaseFailure[Any, Any, Any]


def read_reports(files: Sequence[Path], rule: ScoreRule, suite: str | None = None, model: str | None = None) -> Results:
    """Read reports; those of one name become one run, unless they hold the same model twice.

    Args:
        files: reports.
        rule: a score that decides instead of the assertions, and from where on it is a pass.
        suite: that the cases belong to; the dataset's name, or that of the report, if not given.
        model: that was measured; what `experiment_metadata` says under `model`, else `unknown`, if not given.

    Raises:
        InvalidInput: with every problem of every file.
    """
    found: list[ResultFile] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found.append(_result_file(str(path), _report(path), rule, suite, model))
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    return results_of(SOURCE, found)


def _report(path: Path) -> _Report:
    try:
        return EvaluationReportAdapter.validate_json(file_bytes(path))
    except ValidationError as error:
        remedy = "write it with EvaluationReportAdapter.dump_json"
        raise InvalidInput(
            Problem(f"{path}: {'.'.join(map(str, one['loc'])) or 'the file'}", one["msg"], remedy)
            for one in error.errors()[:20]
        ) from None


def _result_file(place: str, report: _Report, rule: ScoreRule, suite: str | None, model: str | None) -> ResultFile:
    metadata = report.experiment_metadata or {}
    in_suite = suite or report.dataset_name or report.name
    decides = ""
    if rule.score is not None or not any(case.assertions for case in report.cases):
        decides = deciding_score(place, rule, [_scores(case) for case in report.cases])
    attempts: list[ImportedAttempt] = []
    counted: dict[str, int] = {}
    for one in [*report.cases, *report.failures]:
        scenario = one.source_case_name or one.name
        sample = counted.get(scenario, 0)
        counted[scenario] = sample + 1
        if isinstance(one, ReportCase):
            attempts.append(_attempt(in_suite, scenario, sample, one, decides, rule))
        else:
            attempts.append(_failure(in_suite, scenario, sample, one))
    attempts.sort(key=lambda one: list(counted).index(one.scenario))
    said = metadata.get("model")
    arm = ImportedArm(model or (said if isinstance(said, str) and said else UNKNOWN_MODEL), attempts=tuple(attempts))
    return ResultFile(place, report.name, arm)


def _failure(suite: str, scenario: str, sample: int, one: _Failure) -> ImportedAttempt:
    outcome = Outcome(OutcomeKind.INFRA_ERROR, "task_raised", " ".join(one.error_message.split())[:300])
    return ImportedAttempt(suite, scenario, sample, outcome, messages=_messages(one.inputs, None))


def _attempt(suite: str, scenario: str, sample: int, case: _Case, decides: str, rule: ScoreRule) -> ImportedAttempt:
    metrics = case.metrics
    cost = metrics.get("cost")
    return ImportedAttempt(
        suite=suite,
        scenario=scenario,
        sample=sample,
        outcome=_outcome(case, decides, rule),
        model_turns=_whole(metrics.get("requests")),
        input_tokens=_whole(metrics.get("input_tokens")),
        output_tokens=_whole(metrics.get("output_tokens")),
        cost_usd=None if cost is None else float(cost),
        duration_s=case.task_duration,
        checks=tuple(_checks(case, decides, rule)),
        messages=_messages(case.inputs, case.output),
    )


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _scores(case: _Case) -> Mapping[str, Any]:
    return flat_scores({name: score.value for name, score in case.scores.items()})


def _outcome(case: _Case, decides: str, rule: ScoreRule) -> Outcome:
    if decides:
        number = as_number(_scores(case).get(decides))
        if number is not None:
            failed = Outcome(OutcomeKind.FAILED, "", f"{decides} is {number:g}")
            return Outcome(OutcomeKind.PASSED) if rule.passes(number) else failed
    missed = [name for name, one in case.assertions.items() if not one.value]
    if missed and not decides:
        return Outcome(OutcomeKind.FAILED, "", f"not true: {', '.join(missed)}")
    if case.evaluator_failures:
        first = case.evaluator_failures[0]
        return Outcome(OutcomeKind.INFRA_ERROR, "evaluator_failed", f"{first.name}: {first.error_message}"[:300])
    if decides or not case.assertions:
        return Outcome(OutcomeKind.INFRA_ERROR, "unscored", "neither an assertion nor a score decides it")
    return Outcome(OutcomeKind.PASSED)


def _checks(case: _Case, decides: str, rule: ScoreRule) -> Iterator[ImportedCheck]:
    """Names may come twice in a case, as an assertion and as a score: each is kept."""
    for name, one in case.assertions.items():
        yield ImportedCheck(name, one.value, required=not decides, kind="assertion", detail=one.reason or "")
    for name, one in case.scores.items():
        detail = f"{one.value:g}" + (f"; {one.reason}" if one.reason else "")
        passed = rule.passes(one.value) if name == decides else None
        yield ImportedCheck(_free(name, case.assertions), passed, required=name == decides, kind="score", detail=detail)
    for name, one in case.labels.items():
        shown = _free(_free(name, case.assertions), case.scores)
        yield ImportedCheck(shown, None, required=False, kind="label", detail=one.value)
    for failure in case.evaluator_failures:
        shown = f"{failure.name} (raised)"
        yield ImportedCheck(shown, None, required=not decides, kind="assertion", detail=failure.error_message[:500])


def _free(name: str, taken: Mapping[str, Any]) -> str:
    return f"{name} (other)" if name in taken else name


def _messages(inputs: Any, output: Any) -> list[Message]:
    """What went in and what came out: more of the conversation a report does not hold."""
    asked: Message = {"role": "user", "content": inputs}
    return [asked] if output is None else [asked, {"role": "assistant", "content": output}]
