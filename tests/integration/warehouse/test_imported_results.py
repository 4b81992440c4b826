"""Results of other tools, from files to report and screens: the published run, and one with lost attempts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from passgrid.importers.inspect_log import read_logs
from passgrid.importers.score_rule import ScoreRule
from passgrid.importers.xplainable import STAGES, read_results
from passgrid.report.arms import ArmReport, arm_reports
from passgrid.report.comparison import compare_arms
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.report.words import headline
from passgrid.statistics import Interval, scenario_interval
from passgrid.statistics.tally import Tally
from passgrid.warehouse.analysis.export import export
from passgrid.warehouse.analysis.store import AnalysisStore
from passgrid.warehouse.analysis.tools import flag_details, stage_order, tool_rows
from passgrid.warehouse.facts import attempt_facts
from passgrid.warehouse.importing import write_run
from tests.integration.conftest import psycopg_url
from tests.integration.runs import claimed, finish, submitted
from tests.unit.passgrid.importers.xplainable_files import STATUS, case, older, published_run, results


def imported(engine: sa.Engine, folder: Path, *documents: Any, cut: int | None = None) -> list[ArmReport]:
    paths: list[Path] = []
    for number, document in enumerate(documents):
        paths.append(folder / f"{number}.json")
        paths[-1].write_bytes(json.dumps(document).encode()[:cut])
    runs = [write_run(engine, run).run_id for run in read_results(paths, suite="shop").runs]
    with engine.connect() as connection:
        return arm_reports(attempt_facts(connection, runs))


def test_the_published_run_of_four_attempts(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    (arm,) = imported(engine, tmp_path, published_run())
    first = arm.pass_at.points[0]
    assert (arm.coverage.valid, arm.passed, first.k, first.value) == (4, 0, 1, 0.0)
    expected = scenario_interval(Tally(4, 0), "at", 1)
    assert isinstance(expected, Interval)
    assert (first.low, first.high) == (expected.low, expected.high)
    assert arm.stages == {stage: (0 if stage == "report" else 4, 4) for stage in STAGES}
    assert (arm.tool_calls, arm.wasted_calls, arm.cost_usd) == (240, 57, pytest.approx(8.26))
    assert arm.flags == {"endless_polling": 4}
    export(psycopg_url(database_url), tmp_path / "analysis")
    store = AnalysisStore(tmp_path / "analysis")
    dominant, *others = tool_rows(store, arm.name, None)
    assert (dominant.tool, dominant.calls, dominant.errors, dominant.attempts) == (STATUS, 103, 57, 4)
    assert round(100 * dominant.calls / arm.tool_calls) == 43
    assert sum(one.calls for one in others) == 137
    assert stage_order(store, [arm.name.run]) == list(STAGES)
    assert all(f"calls are to {STATUS}" in detail for detail in flag_details(store, arm.name.run).values())
    (of_file,) = arm_reports(store.facts([arm.name.run]))
    assert report_document(make_report([arm.name.run], [of_file])) == report_document(
        make_report([arm.name.run], [arm])
    )


@pytest.mark.parametrize("generation", [2, 3, 4])
def test_older_generations_give_the_same_verdicts(engine: sa.Engine, tmp_path: Path, generation: int) -> None:
    (arm,) = imported(engine, tmp_path, older(published_run(), generation))
    assert (arm.coverage.valid, arm.passed, arm.stages["report"], arm.stages["train"]) == (4, 0, (0, 4), (4, 4))
    assert (arm.tool_calls, arm.cost_usd) == (240, None)


def test_a_truncated_file_keeps_n_honest(engine: sa.Engine, tmp_path: Path) -> None:
    passed = results([case(f"telco[{i}]") for i in range(4)])
    (arm,) = imported(engine, tmp_path, passed, cut=len(json.dumps(passed)) - 200)
    assert (arm.coverage.wanted, arm.coverage.valid, arm.coverage.share) == (4, 3, 0.75)
    assert arm.coverage.headline_withheld
    assert headline(arm) == "3 of 3 valid, coverage 75 %, 75–100 %"
    assert [one.reason for one in arm.reasons] == ["case telco[3] cannot be read: the file ends in the middle of it"]


def test_imported_arms_are_marked_and_compare_with_ours(engine: sa.Engine, tmp_path: Path) -> None:
    ours_id = submitted(engine, tmp_path, k=2).run_id
    finish(engine, claimed(engine))
    with engine.connect() as connection:
        (ours,) = arm_reports(attempt_facts(connection, [ours_id]))
    theirs, other = imported(
        engine, tmp_path, results([case("count-0[0]"), case("count-0[1]", ("report",))], k=2),
        results([case("count-0[0]"), case("elsewhere[0]")], k=1, model="openai:gpt-5"),
    )  # fmt: skip
    assert (ours.name.imported_from, theirs.name.imported_from) == (None, "xplainable")
    pair, more = compare_arms([(ours, theirs), (ours, other)])
    assert pair.difference.scenarios == ("shop/count-0",)
    assert pair.difference.mean == -0.5
    assert more.difference.missing_in_baseline == ("shop/elsewhere",)


def test_what_was_offered_comes_along_with_what_servers_say_of_it(
    engine: sa.Engine, database_url: str, tmp_path: Path
) -> None:
    run = submitted(engine, tmp_path, k=2).run_id
    finish(engine, claimed(engine))
    for _ in range(2):
        export(psycopg_url(database_url), tmp_path / "analysis")
    store = AnalysisStore(tmp_path / "analysis")
    arm = store.facts([run])[0].arm
    rows = tool_rows(store, arm, None)
    assert [(row.tool, row.calls > 0, row.reads) for row in rows if row.calls] == [("count", True, None)]
    assert len({(row.server, row.tool) for row in rows}) == len(rows)
    assert tool_rows(store, arm, frozenset({("shop", "elsewhere")})) == []


def test_published_inspect_logs_come_through(engine: sa.Engine, published_data: Path) -> None:
    (run,) = read_logs([published_data / "inspect" / "browser.json.gz"], ScoreRule()).runs
    written = write_run(engine, run)
    with engine.connect() as connection:
        (arm,) = arm_reports(attempt_facts(connection, [written.run_id]))
    assert (arm.name.imported_from, arm.passed, arm.tool_calls, arm.model_turns) == ("inspect", 1, 4, 5)
    assert arm.tokens is not None
    assert arm.tokens.median == 15_235 + 281
