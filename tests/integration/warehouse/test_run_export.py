"""Runs exported as Parquet and JSON lines, and imported again: the same report, digit for digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from passgrid.importers.export_rows import KINDS, ROWS, Kind
from passgrid.importers.passgrid_export import read_export
from passgrid.problems import InvalidInput, Unreachable
from passgrid.report.arms import arm_reports
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.warehouse.analysis.export import export
from passgrid.warehouse.analysis.store import AnalysisStore
from passgrid.warehouse.facts import attempt_facts
from passgrid.warehouse.importing import write_run
from passgrid.warehouse.run_export import QUERIES, export_runs
from tests.integration.conftest import psycopg_url
from tests.integration.runs import claimed, execute, finish, rows, submitted


def measured(engine: sa.Engine, folder: Path) -> str:
    """A finished run of two scenarios with odd numbers, a flag, a stage, an infra error and no cost of one attempt."""
    run_id = submitted(engine, folder, scenarios=2, k=3).run_id
    finish(engine, claimed(engine))
    execute(engine, "UPDATE attempts SET duration_s = 0.1 + 0.2 * sample, cost_usd = 1.0 / 3 + sample, xid = xid")
    execute(engine, "UPDATE attempts SET cost_usd = NULL, input_tokens = NULL WHERE sample = 2 AND key % 2 = 0")
    execute(
        engine,
        "UPDATE attempts SET outcome = 'infra_error', outcome_detail = 'server', reason = 'gone', valid = false, "
        "passed = false WHERE key = (SELECT min(key) FROM attempts)",
    )
    execute(engine, "INSERT INTO flags SELECT key, 'endless_polling', 'status 40 times' FROM attempts WHERE sample = 1")
    execute(
        engine,
        "INSERT INTO checks SELECT key, 'looked', 'tool_called', true, false, sample > 0, '', false FROM attempts",
    )
    execute(engine, "UPDATE runs SET state = 'done', finished_at = now()")
    return run_id


def document(connection_or_store: Any, run_id: str) -> dict[str, Any]:
    """The report without what tells the two runs apart: their ids, and where they came from."""
    facts = (
        connection_or_store.facts([run_id])
        if isinstance(connection_or_store, AnalysisStore)
        else attempt_facts(connection_or_store, [run_id])
    )
    found = report_document(make_report([run_id], arm_reports(facts)))
    del found["runs"]
    for arm in found["arms"]:
        del arm["run"], arm["imported_from"]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_exported_and_imported_again_it_gives_the_same_report(
    engine: sa.Engine, database_url: str, tmp_path: Path, kind: Kind
) -> None:
    run_id = measured(engine, tmp_path)
    exported = export_runs(psycopg_url(database_url), [run_id], kind, tmp_path / "out")
    assert (exported.rows["attempts"], exported.rows["flags"]) == (6, 2)
    (run,) = read_export(tmp_path / "out")
    written = write_run(engine, run)
    assert written.new
    with engine.connect() as connection:
        before = document(connection, run_id)
        assert document(connection, written.run_id) == before
    assert before["arms"][0]["flags"] == {"endless_polling": 2}
    folder = tmp_path / "analysis"
    export(psycopg_url(database_url), folder)
    store = AnalysisStore(folder)
    assert document(store, written.run_id) == before
    (imported,) = [one for one in store.runs() if one.run_id == written.run_id]
    assert imported.imported_from == "passgrid"
    for table in ("tool_calls", "model_calls", "checks"):
        both = rows(
            engine,
            f"SELECT run_id, t.* FROM {table} t JOIN attempts a ON a.key = attempt_key ORDER BY attempt_id, 3, 4",  # noqa: S608
        )
        assert [one[2:] for one in both if one[0] == run_id] == [one[2:] for one in both if one[0] == written.run_id]


def test_parquet_and_json_lines_hold_the_same(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    run_id = measured(engine, tmp_path)
    for kind in KINDS:
        export_runs(psycopg_url(database_url), [run_id], kind, tmp_path / kind)
    first, second = (read_export(tmp_path / kind) for kind in KINDS)
    assert [run.run_id() for run in first] == [run.run_id() for run in second]


def test_a_run_that_is_not_finished_and_a_folder_that_is_not_empty_are_refused(
    engine: sa.Engine, database_url: str, tmp_path: Path
) -> None:
    run_id = submitted(engine, tmp_path).run_id
    with pytest.raises(InvalidInput, match="2 of its attempts are not finished"):
        export_runs(psycopg_url(database_url), [run_id], "jsonl", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(InvalidInput, match="is not empty"):
        export_runs(psycopg_url(database_url), [run_id], "jsonl", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(Unreachable, match="could not be written"):
        export_runs(psycopg_url(database_url), [run_id], "jsonl", tmp_path / "file" / "out")
    assert not list(tmp_path.glob(".*.partial"))


def test_every_table_that_is_read_is_written() -> None:
    assert set(QUERIES) == set(ROWS)
