import threading
from pathlib import Path
from typing import Any

import pytest

from dashboard.open_store import arms, facts, open_store, transcript
from passgrid.warehouse.analysis.arms import scenario_tags
from passgrid.warehouse.analysis.publishing import POINTER
from passgrid.warehouse.analysis.store import NothingExported
from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id, two_arms
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import no_traceback, said


@pytest.fixture(autouse=True)
def folder(files: AnalysisFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_ANALYSIS", str(files.folder))


def test_the_same_version_is_opened_once(files: AnalysisFiles) -> None:
    files.run()
    files.publish()
    assert open_store() is open_store()


def test_a_newer_version_is_seen_and_the_older_stays_readable(files: AnalysisFiles) -> None:
    files.attempt(files.run(1))
    files.publish()
    before = open_store()
    files.attempt(files.run(2))
    files.publish()
    now = open_store()
    assert now.identity != before.identity
    assert [run.run_id for run in now.store.runs()] == [run_id(2), run_id(1)]
    assert len(arms(now)) == 2
    assert [run.run_id for run in before.store.runs()] == [run_id(1)]


def test_a_folder_made_anew_under_the_same_name_is_seen(files: AnalysisFiles, tmp_path: Path) -> None:
    files.run(1)
    first = files.publish()
    assert len(open_store().store.runs()) == 1
    (files.folder / POINTER).unlink()
    first.unlink()
    again = AnalysisFiles(files.folder)
    again.run(2)
    again.run(3)
    assert again.publish() == first
    assert len(open_store().store.runs()) == 2


def test_arms_and_tags_without_reading_every_attempt(files: AnalysisFiles) -> None:
    two_arms(files.folder).publish()
    found = arms(open_store())
    assert [(row.name.model, row.name.label, row.wanted, row.valid) for row in found] == [
        ("recorded:small", "broken", 4, 1),
        ("recorded:large", "nightly", 6, 6),
        ("recorded:small", "nightly", 6, 6),
    ]
    assert scenario_tags(open_store().store, [run_id(1)]) == {("shop", "refund"): ("money",)}


def test_many_sessions_read_one_store(files: AnalysisFiles) -> None:
    run = files.run()
    for number in range(8):
        key = files.attempt(run, sample=number)
        files.transcript(key, [{"role": "user", "content": f"message of {key}"}])
    files.publish()
    opened = open_store()
    read: dict[int, Any] = {}

    def reader(key: int) -> None:
        for _ in range(20):
            read[key] = transcript(opened, run, key)
            assert len(facts(opened, run)) == 8

    threads = [threading.Thread(target=reader, args=(key,)) for key in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key: messages[0]["content"] for key, messages in read.items()} == {
        key: f"message of {key}" for key in range(1, 9)
    }


def test_nobody_said_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PASSGRID_ANALYSIS")
    with pytest.raises(NothingExported, match="passgrid dashboard"):
        open_store()


@pytest.mark.parametrize("page", ["runs_page.py", "compare_page.py", "attempt_page.py"])
def test_a_broken_file_is_said_with_what_to_do(files: AnalysisFiles, open_page: Open, page: str) -> None:
    files.run()
    files.publish().write_bytes(b"no database " * 1000)
    app = open_page(page)
    no_traceback(app)
    assert "could not be read" in said(app)
    assert "passgrid export" in said(app)


@pytest.mark.parametrize("page", ["runs_page.py", "compare_page.py", "attempt_page.py"])
def test_a_missing_store_is_said_with_what_to_do(open_page: Open, page: str) -> None:
    app = open_page(page)
    no_traceback(app)
    assert "Nothing is exported yet" in said(app)
    assert "submit-matrix" in said(app)
    assert "passgrid export" in said(app)


@pytest.mark.parametrize("page", ["runs_page.py", "compare_page.py", "attempt_page.py"])
def test_an_empty_store_is_said_with_what_to_do(files: AnalysisFiles, open_page: Open, page: str) -> None:
    files.publish()
    app = open_page(page)
    no_traceback(app)
    assert "submit-matrix" in said(app) or "Runs →" in said(app)
