"""A replay process on a real database: batches, late results, and orders that are broken."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.integration.runs import rows, submitted, value
from workers.replay import ReplayProcess
from workers.settings import WorkerSettings


@pytest.fixture
def process(database_url: str) -> ReplayProcess:
    settings = WorkerSettings(database_url, "unused", replay_processes=1, live_slots=1, batch=4, lease_s=30)
    return ReplayProcess(settings)


def test_one_hint_is_enough_for_everything_that_waits(
    engine: sa.Engine, process: ReplayProcess, tmp_path: Path
) -> None:
    submitted(engine, tmp_path, scenarios=3, k=5)
    assert process.work() == 15
    assert process.work() == 0
    assert rows(engine, "SELECT DISTINCT outcome, state FROM attempts") == [("passed", "done")]
    assert value(engine, "SELECT count(*) FROM transcripts") == 15


def test_a_cancelled_run_is_not_begun(engine: sa.Engine, process: ReplayProcess, tmp_path: Path) -> None:
    from passgrid.warehouse.control import cancel

    run = submitted(engine, tmp_path, k=5).run_id
    cancel(engine, run)
    assert process.work() == 0
    assert value(engine, "SELECT count(*) FROM tries") == 0


def test_a_missing_blob_ends_its_attempt_and_no_other(
    engine: sa.Engine, process: ReplayProcess, tmp_path: Path
) -> None:
    submitted(engine, tmp_path, k=3)
    with engine.begin() as connection:
        connection.execute(
            sa.text("DELETE FROM blobs WHERE hash = (SELECT cassette_hash FROM attempts WHERE sample = 1)")
        )
    assert process.work() == 3
    found = rows(engine, "SELECT outcome, outcome_detail FROM attempts ORDER BY sample")
    assert found == [("passed", ""), ("infra_error", "order"), ("passed", "")]
    assert "is not in the database" in value(engine, "SELECT reason FROM attempts WHERE sample = 1")
