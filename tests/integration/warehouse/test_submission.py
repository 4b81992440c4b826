"""Submissions: one transaction, idempotent, and one run however many submit it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from passgrid.cassettes.layout import CassetteFolder
from passgrid.problems import InvalidInput
from passgrid.warehouse.control import cancel, resume
from passgrid.warehouse.submission import submit
from passgrid.warehouse.summary import run_summary
from tests.integration.runs import claimed, finish, plan, rows, submitted, value
from tests.unit.passgrid.suites import COUNTING, cassette, say


def test_the_same_again_adds_nothing_and_a_larger_k_only_what_is_missing(engine: sa.Engine, tmp_path: Path) -> None:
    first = submitted(engine, tmp_path, scenarios=10, k=3)
    again = submitted(engine, tmp_path, k=3)
    more = submitted(engine, tmp_path, k=4)
    assert (first.new_attempts, again.new_attempts, more.new_attempts) == (30, 0, 10)
    assert first.run_id == again.run_id == more.run_id
    assert value(engine, "SELECT count(*) FROM attempts") == 40
    assert rows(engine, "SELECT k, wanted FROM runs") == [(4, 40)]


def test_a_smaller_k_takes_nothing_away(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=4)
    submitted(engine, tmp_path, k=2)
    assert rows(engine, "SELECT k, wanted FROM runs") == [(4, 4)]


def test_another_label_measures_again_with_the_same_attempt_ids(engine: sa.Engine, tmp_path: Path) -> None:
    first = submitted(engine, tmp_path, label="a")
    second = submitted(engine, tmp_path, label="b")
    assert first.run_id != second.run_id
    found = rows(engine, "SELECT attempt_id, count(*) FROM attempts GROUP BY 1")
    assert [count for _, count in found] == [2, 2]


def test_eight_at_once_are_one_run(engine: sa.Engine, tmp_path: Path) -> None:
    made = plan(tmp_path, scenarios=20, k=5)
    new: list[int] = []
    threads = [threading.Thread(target=lambda: new.append(submit(engine, made).new_attempts)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == [0] * 7 + [100]
    assert value(engine, "SELECT count(*) FROM attempts") == 100


def test_a_changed_recording_needs_another_label(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    CassetteFolder(tmp_path / "shop").write(cassette((*COUNTING[:3], say("5, I think")), scenario="count-0", sample=1))
    with pytest.raises(InvalidInput, match="sample 1: its recording changed since run"):
        submitted(engine, tmp_path, k=3)
    assert value(engine, "SELECT count(*) FROM attempts") == 2, "nothing of the refused submission is left"
    assert submitted(engine, tmp_path, k=3, label="b").new_attempts == 3


def test_a_changed_check_needs_another_label(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path)
    path = tmp_path / "shop" / "count-0.yaml"
    path.write_text(path.read_text().replace("'5'", "'6'"))
    with pytest.raises(InvalidInput, match="its checks changed since run"):
        submitted(engine, tmp_path)


def test_cancel_takes_what_is_queued_and_resume_puts_it_back(engine: sa.Engine, tmp_path: Path) -> None:
    run = submitted(engine, tmp_path, k=5).run_id
    (one,) = claimed(engine, most=1)
    assert cancel(engine, run, dry_run=True).attempts == 4
    done = cancel(engine, run)
    assert (done.attempts, done.running) == (4, 1)
    assert cancel(engine, run).attempts == 0
    assert claimed(engine) == []
    finish(engine, [one])
    assert resume(engine, run, dry_run=True).attempts == 4
    assert resume(engine, run).attempts == 4
    assert resume(engine, run).attempts == 0
    finish(engine, claimed(engine))
    with engine.connect() as connection:
        summary = run_summary(connection, run)
    assert (summary.state, summary.valid, summary.passed) == ("done", 5, 5)
    assert summary.digest is not None


def test_a_release_run_overtakes_a_nightly_one(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=5, label="nightly")
    release = submitted(engine, tmp_path, k=2, label="release", priority=10)
    assert {one.run_id for one in claimed(engine, most=2)} == {release.run_id}
