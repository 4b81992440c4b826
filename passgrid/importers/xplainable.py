"""Results of xplainable's evals, one JSON file for each model and prompt, of every generation.

* A case is one sample: `scenario[i]`. It passed when it completed and reached every stage that is expected of it; a
  stage that is not expected is absent. Detectors (true: a failure that looks like a success) are flags, no part of it.
* That tool drops a case whose task raised. Every index below `config.k` that is missing is such a case: wanted, lost.
* A file that was cut off is read as far as it goes.
* `error` holds whatever was raised in an attempt: where it names a failure of a provider or of the network, the
  attempt says nothing about the agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from passgrid.failure_kinds import CONNECTION, RATE_LIMIT, SERVER_ERROR
from passgrid.importers.imported_flags import imported_flags
from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedCheck, ImportedToolCall
from passgrid.importers.result_file import UNREADABLE, ResultFile, Results, lost, results_of
from passgrid.importers.xplainable_file import BrokenCase, Case, CaseFile, read_case_file
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.problems import InvalidInput, Problem
from passgrid.transcript import ToolCallRecord

SOURCE = "xplainable"
STAGES = (
    "explore", "select_label", "data_prep", "feature_eng", "persist_prep", "train", "deploy", "predict", "report",
    "optimise",
)  # fmt: skip
COMPLETED = "completed"
_NAME = re.compile(r"(?P<scenario>.*)\[(?P<index>\d+)\]", re.DOTALL)
_BROKE = {
    RATE_LIMIT: re.compile(r"status_code: 429|RateLimitError|rate limit", re.IGNORECASE),
    SERVER_ERROR: re.compile(r"status_code: 5\d\d|InternalServerError|overloaded", re.IGNORECASE),
    CONNECTION: re.compile(r"API(Connection|Timeout)Error|Connect(ion)?Error|ConnectTimeout|ReadTimeout"),
}

_Place = tuple[str, int]
"""Scenario and sample."""


def read_results(files: Sequence[Path], suite: str | None = None) -> Results:
    """Read result files; those of one label become one run.

    Args:
        files: one for each model and prompt.
        suite: that the scenarios belong to; `xplainable` if not given.

    Raises:
        InvalidInput: with every problem of every file.
    """
    found: list[ResultFile] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found.append(_result_file(read_case_file(path), suite or SOURCE))
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    return results_of(SOURCE, found)


def _result_file(file: CaseFile, suite: str) -> ResultFile:
    head, notes = file.head, list(_notes(file))
    cases = _by_place(file)
    attempts = tuple(
        _attempt(suite, place, cases.get(place), truncated=file.truncated) for place in _wanted(cases, head.config.k)
    )
    arm = ImportedArm(head.config.model, head.config.prompt_id, head.config.target or "default", attempts=attempts)
    known = {name: value for name, value in head.git.items() if value and value != "unknown"}
    return ResultFile(file.place, head.label, arm, head.timestamp, head.timestamp, known, tuple(notes))


def _notes(file: CaseFile) -> Iterator[str]:
    if file.truncated:
        yield f"{file.place}: was cut off; scenarios that come after its end are not known"
    if file.head.config.k is None:
        yield f"{file.place}: does not say k: cases that were dropped from its end are not known"
    for case in file.cases:
        if isinstance(case, BrokenCase) and case.name is None:
            yield f"{file.place}: a case without a name: {case.reason}"


def _by_place(file: CaseFile) -> dict[_Place, Case | BrokenCase]:
    """Cases by scenario and sample; names without an index count up."""
    found: dict[_Place, Case | BrokenCase] = {}
    twice: list[Problem] = []
    for case in file.cases:
        if case.name is None:
            continue
        place = _place(case.name, found)
        if place in found:
            twice.append(Problem(file.place, f"case {case.name} is there twice", "give each run a file of its own"))
        found[place] = case
    if twice:
        raise InvalidInput(twice)
    return found


def _place(name: str, before: dict[_Place, Case | BrokenCase]) -> _Place:
    indexed = _NAME.fullmatch(name)
    if indexed:
        return indexed["scenario"], int(indexed["index"])
    return name, sum(scenario == name for scenario, _ in before)


def _wanted(cases: dict[_Place, Case | BrokenCase], k: int | None) -> Iterator[_Place]:
    """Every sample that was asked for, scenario by scenario in the order of the file."""
    for scenario in dict.fromkeys(scenario for scenario, _ in cases):
        last = max(index for name, index in cases if name == scenario)
        for index in range(max(k or 0, last + 1)):
            yield scenario, index


def _attempt(suite: str, place: _Place, case: Case | BrokenCase | None, *, truncated: bool) -> ImportedAttempt:
    scenario, sample = place
    name = f"{scenario}[{sample}]"
    if case is None:
        why = "the file ends before it" if truncated else "that tool drops a case whose task raised"
        return lost(suite, scenario, sample, f"case {name} is not in the file: {why}")
    if isinstance(case, BrokenCase):
        return lost(suite, scenario, sample, f"case {name} cannot be read: {case.reason}")
    calls = case.tool_calls or ()
    usage = case.usage
    return ImportedAttempt(
        suite=suite,
        scenario=scenario,
        sample=sample,
        outcome=_outcome(name, case),
        steps=_count(case.scores.get("step_count"), len(calls) if case.tool_calls is not None else None),
        wasted_calls=_count(
            case.scores.get("wasted_calls"), sum(call.error for call in calls) if case.tool_calls is not None else None
        ),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=usage.cost_usd if usage else None,
        duration_s=case.duration,
        checks=tuple(_checks(case)),
        flags=_flags(case),
        tool_calls=tuple(ImportedToolCall(call.name, error=call.error, error_text=call.error_text) for call in calls),
    )


def _count(said: float | None, listed: int | None) -> int | None:
    return listed if said is None else int(said)


def _outcome(name: str, case: Case) -> Outcome:
    required = {one: value for one, value in case.assertions.items() if one in STAGES or one == COMPLETED}
    missed = [one for one, value in required.items() if value is False]
    unknown = [one for one, value in required.items() if value is None]
    if not required:
        return Outcome(OutcomeKind.INFRA_ERROR, UNREADABLE, f"case {name} says neither {COMPLETED} nor any stage")
    if not missed and unknown:
        return Outcome(OutcomeKind.INFRA_ERROR, UNREADABLE, f"case {name} does not say whether {', '.join(unknown)}")
    if not missed:
        return Outcome(OutcomeKind.PASSED)
    if case.usage_limit_hit:
        return Outcome(OutcomeKind.LIMIT, "", "a limit of requests or tool calls; the file does not say which")
    for kind, pattern in _BROKE.items():
        if case.error and pattern.search(case.error):
            return Outcome(OutcomeKind.INFRA_ERROR, kind, _line(case.error))
    not_reached = [one for one in missed if one != COMPLETED]
    said = [f"{', '.join(not_reached)} not reached"] if not_reached else []
    said += [_line(case.error)] if case.error else ["did not complete"] if COMPLETED in missed else []
    return Outcome(OutcomeKind.FAILED, "", "; ".join(said))


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


def _checks(case: Case) -> Iterator[ImportedCheck]:
    for name, value in case.assertions.items():
        if name in STAGES or name == COMPLETED:
            yield ImportedCheck(name, value, stage=name in STAGES)
    for name, value in case.labels.items():
        if name not in case.assertions and value is not None:
            yield ImportedCheck(name, None, required=False, kind="label", detail=value)


def _flags(case: Case) -> dict[str, str]:
    """Those of the file, and those our detectors find in its calls."""
    theirs = {
        name: "found by the tool that made the file"
        for name, value in case.assertions.items()
        if value and name not in STAGES and name != COMPLETED
    }
    return imported_flags([_record(i, call.name, call.error) for i, call in enumerate(case.tool_calls or ())]) | theirs


def _record(position: int, tool: str, error: bool) -> ToolCallRecord:
    """As much of a call as the file tells, for detectors: its arguments and answer are not known."""
    return ToolCallRecord(1, "", tool, None, None, "live", error, None, 0.0, None, position, None)
