"""A backup is everything, a restore is all of it or nothing, and the analysis file notices."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from api.backup import back_up, restore
from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import joined_stack, release
from passgrid.report.arms import arm_reports
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.warehouse.analysis.export import export
from passgrid.warehouse.analysis.store import AnalysisStore
from passgrid.warehouse.control import resume
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.facts import attempt_facts
from passgrid.warehouse.migrate import current_revision, head_revision
from tests.integration.conftest import PARTS
from tests.integration.runs import claimed, finish, rows, submitted, value


@pytest.fixture
def here(database_url: str, bare_stack: Addresses) -> Addresses:
    return Addresses(database_url, bare_stack.broker_url, None, embedded=True)


@pytest.fixture
def elsewhere() -> Iterator[Addresses]:
    """Another cluster with an empty database."""
    with tempfile.TemporaryDirectory(prefix="passgrid other ") as folder:
        home = Home(Path(folder) / "home")
        with joined_stack(home, PARTS) as addresses:
            yield addresses
        release(home)


def report(addresses: Addresses, *runs: str) -> dict[str, Any]:
    engine = make_engine(addresses.database_url)
    with engine.connect() as connection:
        found = report_document(make_report(list(runs), arm_reports(attempt_facts(connection, list(runs)))))
    engine.dispose()
    return found


def exported_report(folder: Path, *runs: str) -> dict[str, Any]:
    return report_document(make_report(list(runs), arm_reports(AnalysisStore(folder).facts(list(runs)))))


def finished_run(engine: sa.Engine, root: Path, label: str = "done", k: int = 3) -> str:
    run = submitted(engine, root, scenarios=2, k=k, label=label).run_id
    finish(engine, claimed(engine))
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE runs SET state = 'done', finished_at = now(), xid = pg_current_xact_id()"))
    return run


def test_what_was_backed_up_is_back_in_another_cluster_and_is_exported_in_full(
    engine: sa.Engine, here: Addresses, elsewhere: Addresses, tmp_path: Path
) -> None:
    folder, file = tmp_path / "analysis", tmp_path / "all.dump"
    run = finished_run(engine, tmp_path)
    export(here.psycopg_url, folder)
    before = report(here, run)
    assert back_up(here, file) == file.stat().st_size > 0
    assert file.stat().st_mode & 0o077 == 0
    restored = restore(elsewhere, file)
    assert (restored.runs, restored.replaced) == (1, 0)
    assert current_revision(elsewhere.database_url) == head_revision()
    assert report(elsewhere, run) == before
    exported = export(elsewhere.psycopg_url, folder)
    assert (exported.rebuilt, exported.runs, exported.attempts) == (True, 1, 6)
    assert exported_report(folder, run) == before
    attempt = AnalysisStore(folder).facts([run])[0].attempt_id
    row = AnalysisStore(folder).attempt(run, attempt)
    assert row is not None
    assert len(AnalysisStore(folder).transcript(run, row["attempt_key"])) == 5


def test_a_restored_installation_goes_on_measuring(
    engine: sa.Engine, here: Addresses, elsewhere: Addresses, tmp_path: Path
) -> None:
    run = finished_run(engine, tmp_path, k=2)
    back_up(here, tmp_path / "all.dump")
    restore(elsewhere, tmp_path / "all.dump")
    there = make_engine(elsewhere.database_url)
    assert submitted(there, tmp_path, scenarios=2, k=3, label="done").run_id == run
    claims = claimed(there)
    assert len(claims) == 2
    assert len(finish(there, claims)) == 2
    export(elsewhere.psycopg_url, tmp_path / "analysis")
    assert exported_report(tmp_path / "analysis", run) == report(elsewhere, run)
    there.dispose()


def test_runs_in_a_database_are_not_lost_by_accident(engine: sa.Engine, here: Addresses, tmp_path: Path) -> None:
    folder, file = tmp_path / "analysis", tmp_path / "all.dump"
    early = finished_run(engine, tmp_path, "early")
    back_up(here, file)
    late = finished_run(engine, tmp_path, "late")
    export(here.psycopg_url, folder)
    with pytest.raises(StackError, match="holds 2 runs"):
        restore(here, file)
    assert len(report(here, early, late)["arms"]) == 2
    restored = restore(here, file, force=True)
    assert (restored.runs, restored.replaced) == (1, 2)
    assert rows(engine, "SELECT label FROM runs") == [("early",)]
    assert export(here.psycopg_url, folder).rebuilt
    assert exported_report(folder, early) == report(here, early)
    assert AnalysisStore(folder).facts([late]) == []


def test_what_ran_when_it_was_backed_up_is_paused_and_can_go_on(
    engine: sa.Engine, here: Addresses, tmp_path: Path
) -> None:
    run = submitted(engine, tmp_path, k=4).run_id
    running = claimed(engine, most=2)
    back_up(here, tmp_path / "all.dump")
    restore(here, tmp_path / "all.dump", force=True)
    assert finish(engine, running) == set()
    assert claimed(engine) == []
    assert rows(engine, "SELECT state FROM runs") == [("paused",)]
    assert rows(engine, "SELECT DISTINCT reason FROM tries") == [("handed_back",)]
    resume(engine, run)
    assert len(finish(engine, claimed(engine))) == 4


def test_a_backup_that_is_cut_off_changes_nothing(engine: sa.Engine, here: Addresses, tmp_path: Path) -> None:
    run = finished_run(engine, tmp_path)
    before = report(here, run)
    file = tmp_path / "all.dump"
    back_up(here, file)
    data = file.read_bytes()
    for length in (len(data) // 4, 5000, 100):
        file.write_bytes(data[:length])
        with pytest.raises(StackError):
            restore(here, file, force=True)
        assert report(here, run) == before


def test_other_files_are_no_backups(here: Addresses, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("PGDMP, they said")
    with pytest.raises(StackError, match=r"notes.txt is no backup of Passgrid"):
        restore(here, tmp_path / "notes.txt")
    with pytest.raises(FileNotFoundError):
        restore(here, tmp_path / "nothing.dump")


def test_a_backup_of_a_newer_version_is_refused(engine: sa.Engine, here: Addresses, tmp_path: Path) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    back_up(here, tmp_path / "all.dump")
    with pytest.raises(StackError, match="revision 9999 is not known here"):
        restore(here, tmp_path / "all.dump")


def test_a_backup_that_fails_leaves_the_one_before(here: Addresses, tmp_path: Path) -> None:
    file = tmp_path / "all.dump"
    file.write_text("the one before")
    away = Addresses(f"postgresql+psycopg://passgrid:hunter2@/x?host={tmp_path}", here.broker_url, None, embedded=False)
    with pytest.raises(StackError, match="The backup was not made") as caught:
        back_up(away, file)
    assert "hunter2" not in str(caught.value)
    assert file.read_text() == "the one before"
    assert [path.name for path in tmp_path.iterdir()] == ["all.dump"]


def test_an_unwritable_folder_is_named(here: Addresses, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no-such-folder"):
        back_up(here, tmp_path / "no-such-folder" / "all.dump")


def test_heartbeats_are_of_the_moment_and_not_backed_up(
    engine: sa.Engine, here: Addresses, elsewhere: Addresses, tmp_path: Path
) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO heartbeats (name, kind, host, pid) VALUES ('a', 'live', 'h', 1)"))
    back_up(here, tmp_path / "all.dump")
    restore(elsewhere, tmp_path / "all.dump")
    there = make_engine(elsewhere.database_url)
    assert value(there, "SELECT count(*) FROM heartbeats") == 0
    there.dispose()
