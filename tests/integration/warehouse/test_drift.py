"""What attempts found about drift is written with them, summed by arm, and exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from passgrid.drift.account import DriftAccount, ToolTally
from passgrid.drift.findings import RESULT, Finding, Severity
from passgrid.drift.report import DriftArm
from passgrid.warehouse.analysis.drift import drift_of
from passgrid.warehouse.analysis.export import export
from passgrid.warehouse.analysis.store import AnalysisStore
from passgrid.warehouse.drift import read_drift
from tests.integration.conftest import psycopg_url
from tests.integration.runs import claimed, execute, finish, result, submitted

RENAMED = Finding(RESULT, "stock", "count", "a\0b", "renamed to c", Severity.BREAKING, {"a": 1}, {"c": "\ud800"}, 2)
FOUND = DriftAccount((ToolTally("stock", "count", 3, 2, 1), ToolTally("stock", "think", 1, missing=True)), (RENAMED,))


def finished_run(engine: sa.Engine, folder: Path) -> str:
    """Two attempts that both found the same, written by what a worker writes with."""
    run = submitted(engine, folder, k=2).run_id
    finish(engine, claimed(engine), replace(result(), drift=FOUND))
    return run


def check(found: list[DriftArm]) -> None:
    (arm,) = found
    assert (arm.wanted, arm.valid) == (2, 2)
    assert arm.drift.tools == (ToolTally("stock", "count", 6, 4, 2), ToolTally("stock", "think", 2, missing=True))
    (one,) = arm.drift.findings
    assert (one.place, one.change, one.severity, one.count) == ("a\ufffdb", "renamed to c", Severity.BREAKING, 4)
    assert (one.recorded, one.live) == ({"a": 1}, {"c": "\ufffd"})
    assert len(one.attempt) == 32


def test_the_same_sums_from_postgres_and_from_the_export(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    run = finished_run(engine, tmp_path)
    with engine.connect() as connection:
        check(read_drift(connection, [run]))
    export(psycopg_url(database_url), tmp_path / "analysis")
    store = AnalysisStore(tmp_path / "analysis")
    check(drift_of(store, [run]))
    store.close()


def test_a_deleted_run_takes_its_findings_along(engine: sa.Engine, tmp_path: Path) -> None:
    run = finished_run(engine, tmp_path)
    execute(engine, "DELETE FROM runs WHERE run_id = :run", run=run)
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM drift_findings")).scalar_one() == 0
        assert read_drift(connection, [run]) == []
