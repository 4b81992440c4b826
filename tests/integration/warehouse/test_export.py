"""The analysis file: incremental, atomic, and never wrong about what is not committed yet."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
import sqlalchemy as sa

from passgrid.report.arms import arm_reports
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.warehouse.analysis.export import Exported, export
from passgrid.warehouse.analysis.publishing import current_file
from passgrid.warehouse.analysis.store import AnalysisStore, NothingExported
from passgrid.warehouse.analysis.tables import TABLES
from passgrid.warehouse.facts import attempt_facts
from tests.integration.conftest import psycopg_url
from tests.integration.runs import claimed, finish, submitted


def exported(database_url: str, folder: Path) -> Exported:
    return export(psycopg_url(database_url), folder)


def test_a_report_from_the_file_equals_one_from_postgres(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    run = submitted(engine, tmp_path, scenarios=3, k=2).run_id
    finish(engine, claimed(engine, most=4))
    exported(database_url, tmp_path / "analysis")
    store = AnalysisStore(tmp_path / "analysis")
    with engine.connect() as connection:
        from_postgres = report_document(make_report([run], arm_reports(attempt_facts(connection, [run]))))
    assert report_document(make_report([run], arm_reports(store.facts([run])))) == from_postgres
    attempt = next(fact for fact in store.facts([run]) if fact.valid)
    row = store.attempt(run, attempt.attempt_id)
    assert row is not None
    assert store.tool_calls(row["attempt_key"])[0].tool == "count"
    assert len(store.transcript(run, row["attempt_key"])) == 5


def test_only_what_changed_is_read(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=4)
    first = exported(database_url, folder)
    assert (first.runs, first.attempts, first.rebuilt) == (1, 4, True)
    finish(engine, claimed(engine, most=1))
    second = exported(database_url, folder)
    assert (second.runs, second.attempts, second.rebuilt) == (0, 1, False)
    third = exported(database_url, folder)
    assert (third.file, third.attempts) == (second.file, 0)


def test_a_slow_transaction_delays_rows_and_loses_none(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=2, label="before")
    exported(database_url, folder)
    with engine.connect() as slow:
        slow.execute(sa.text("SELECT pg_current_xact_id()"))
        slow.execute(sa.text("UPDATE runs SET label = 'slow', xid = pg_current_xact_id()"))
        submitted(engine, tmp_path, k=2, label="fast")
        exported(database_url, folder)
        labels = {run.label for run in AnalysisStore(folder).runs()}
        assert "slow" not in labels
        slow.commit()
    exported(database_url, folder)
    assert {run.label for run in AnalysisStore(folder).runs()} == {"slow", "fast"}


def test_a_deleted_run_goes_from_the_file_too(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    gone = submitted(engine, tmp_path, k=2, label="gone").run_id
    stays = submitted(engine, tmp_path, k=2, label="stays").run_id
    finish(engine, claimed(engine))
    exported(database_url, folder)
    assert (folder / "transcripts" / gone).is_dir()
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM runs WHERE run_id = :run"), {"run": gone})
    exported(database_url, folder)
    store = AnalysisStore(folder)
    assert [run.run_id for run in store.runs()] == [stays]
    assert store.facts([gone]) == []
    assert not (folder / "transcripts" / gone).exists()


def test_another_cluster_or_database_is_read_in_full(
    engine: sa.Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=2)
    exported(database_url, folder)
    with duckdb.connect(str(current_file(folder))) as file:
        file.execute("UPDATE exports SET cluster = 'another'")
    assert exported(database_url, folder).rebuilt


def test_an_open_reader_keeps_its_file_and_a_new_one_sees_the_next(
    engine: sa.Engine, database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=2, label="one")
    exported(database_url, folder)
    old = AnalysisStore(folder)
    for label in ("two", "three", "four"):
        submitted(engine, tmp_path, k=2, label=label)
        exported(database_url, folder)
    assert [run.label for run in old.runs()] == ["one"]
    assert len(AnalysisStore(folder).runs()) == 4
    assert len(list(folder.glob("analysis-*.duckdb"))) == 2


def test_every_column_is_documented(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    submitted(engine, tmp_path)
    exported(database_url, tmp_path / "analysis")
    with duckdb.connect(str(current_file(tmp_path / "analysis")), read_only=True) as file:
        names = [table.name for table in TABLES]
        bare = file.execute(
            "SELECT table_name, column_name FROM duckdb_columns() "
            "WHERE comment IS NULL AND list_contains(?, table_name)",
            [names],
        ).fetchall()
    assert bare == []


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from passgrid.problems import PassgridError
from passgrid.warehouse.analysis.export import export
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    export(sys.argv[1], Path(sys.argv[2]))
except PassgridError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_a_full_disk_leaves_the_old_file_whole(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=2, label="one")
    before = exported(database_url, folder).file
    submitted(engine, tmp_path, scenarios=1, k=5, label="two")
    found = subprocess.run(
        [sys.executable, "-c", _LIMITED, psycopg_url(database_url), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1, found.stderr
    assert "the file of before is whole" in found.stdout
    assert current_file(folder) == before
    assert [run.label for run in AnalysisStore(folder).runs()] == ["one"]
    assert list(folder.glob("draft-*")) == []
    assert exported(database_url, folder).attempts == 5
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000
    assert signal.getsignal(signal.SIGXFSZ) is not None


def test_a_killed_export_leaves_the_old_file_and_no_lock(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    submitted(engine, tmp_path, k=2)
    before = exported(database_url, folder).file
    (folder / "draft-1.duckdb").write_bytes(b"left by a killed export")
    (folder / "draft-1.duckdb.wal").write_bytes(b"and its log")
    submitted(engine, tmp_path, k=3)
    after = exported(database_url, folder).file
    assert after != before
    assert list(folder.glob("draft-*")) == []
    assert os.path.getsize(after) > 0


def test_without_an_export_the_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NothingExported, match="passgrid export"):
        AnalysisStore(tmp_path)
