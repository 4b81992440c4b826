"""Imported runs: finished from the start, the same content once, marked, and never run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedCheck, ImportedRun, ImportedToolCall
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.problems import InvalidInput
from passgrid.report.arms import arm_reports
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.warehouse.control import resume, retry
from passgrid.warehouse.facts import attempt_facts
from passgrid.warehouse.importing import write_run
from tests.integration.runs import rows, value

PASSED, BROKEN = Outcome(OutcomeKind.PASSED), Outcome(OutcomeKind.INFRA_ERROR, "lost", "the file is cut off")


def attempt(
    sample: int, outcome: Outcome = PASSED, scenario: str = "count", attempt_id: str | None = None
) -> ImportedAttempt:
    return ImportedAttempt(
        "shop",
        scenario,
        sample,
        outcome,
        attempt_id=attempt_id,
        steps=2,
        wasted_calls=1,
        checks=(ImportedCheck("answer", True), ImportedCheck("found", True, stage=True, required=False)),
        tool_calls=(ImportedToolCall("look", error=True, error_text="no \0 such"), ImportedToolCall("count")),
        messages=[{"role": "user", "content": "How many?\ud800"}],
    )


def run(*attempts: ImportedAttempt) -> ImportedRun:
    return ImportedRun(
        "inspect", "july", (ImportedArm("openai/gpt-4o", attempts=attempts or (attempt(0), attempt(1, BROKEN))),)
    )


def test_a_run_is_there_with_everything_and_unknowns_stay_unknown(engine: sa.Engine) -> None:
    written = write_run(engine, run())
    with engine.connect() as connection:
        document = report_document(
            make_report([written.run_id], arm_reports(attempt_facts(connection, [written.run_id])))
        )
    (arm,) = document["arms"]
    assert (arm["wanted"], arm["valid"], arm["coverage"], arm["passed"]) == (2, 1, 0.5, 1)
    assert (arm["cost_usd"], arm["tokens"], arm["duration_s"]) == (None, None, None)
    assert (arm["steps"]["median"], arm["wasted_calls"], arm["answers"]["live"]) == (2, 2, 4)
    assert arm["stages"] == {"found": {"passed": 1, "of": 1}}
    assert arm["imported_from"] == "inspect"
    assert value(engine, "SELECT count(*) FROM transcripts") == 2


def test_the_same_content_is_written_once_and_other_content_is_another_run(engine: sa.Engine) -> None:
    first, again = write_run(engine, run()), write_run(engine, run())
    assert (first.new, again.new, again.run_id) == (True, False, first.run_id)
    assert write_run(engine, run(attempt(0))).run_id != first.run_id
    assert value(engine, "SELECT count(*) FROM runs") == 2


def test_nothing_of_it_is_ever_run(engine: sa.Engine) -> None:
    written = write_run(engine, run())
    for again in (resume, retry):
        with pytest.raises(InvalidInput, match="imported"):
            again(engine, written.run_id)
    assert rows(engine, "SELECT DISTINCT state FROM attempts") == [("done",)]


def test_an_attempt_id_that_comes_twice_is_named_and_nothing_is_written(engine: sa.Engine) -> None:
    with pytest.raises(InvalidInput, match="sample 1: its attempt id comes twice"):
        write_run(engine, run(attempt(0, attempt_id="a"), attempt(1, attempt_id="a")))
    assert value(engine, "SELECT count(*) FROM runs") == 0


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(ValueError, match="two attempts of the sample shop/count, 0"):
        run(attempt(0), attempt(0))
    with pytest.raises(ValueError, match="two checks of the name answer"):
        replace(attempt(0), checks=(ImportedCheck("answer", True), ImportedCheck("answer", False)))
    with pytest.raises(ValueError, match="without any attempt"):
        ImportedRun("inspect", "july", ())
