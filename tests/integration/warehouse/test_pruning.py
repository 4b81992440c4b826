"""Pruned runs are gone everywhere, and nothing else is: not in Postgres, not in the analysis file, not a blob."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from passgrid.report.arms import arm_reports
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.warehouse import blobs, pruning
from passgrid.warehouse.analysis.export import export
from passgrid.warehouse.analysis.store import AnalysisStore
from passgrid.warehouse.blob_sweep import REFERENCES, Swept, sweep_blobs, would_sweep
from passgrid.warehouse.facts import attempt_facts
from passgrid.warehouse.gateway_tables import metadata
from passgrid.warehouse.progress import finish_runs
from passgrid.warehouse.pruning import named_runs, prune_runs, rescue, selected_runs, unfinished_prunes
from tests.integration.conftest import psycopg_url
from tests.integration.runs import claimed, finish, rows, submitted, value
from tests.unit.passgrid.suites import answer, ask, cassette, say, write_suite
from workers.orders import OrderBook
from workers.suite_folder import SuiteFolders


def run(engine: sa.Engine, root: Path, label: str, **changes: Any) -> str:
    """A finished run with a suite of its own below `root`."""
    root.mkdir(exist_ok=True)
    made = submitted(engine, root, label=label, **changes).run_id
    finish(engine, claimed(engine))
    with engine.connect() as connection:
        finish_runs(connection)
    return made


def report(engine: sa.Engine, *runs: str) -> dict[str, Any]:
    with engine.connect() as connection:
        return report_document(make_report(list(runs), arm_reports(attempt_facts(connection, list(runs)))))


def exported(database_url: str, folder: Path, *runs: str) -> dict[str, Any]:
    export(psycopg_url(database_url), folder)
    return report_document(make_report(list(runs), arm_reports(AnalysisStore(folder).facts(list(runs)))))


def blob_count(engine: sa.Engine) -> int:
    return value(engine, "SELECT count(*) FROM blobs")


def everything_is_there(engine: sa.Engine) -> bool:
    """Whether every claimable attempt finds all it needs: orders, files, recordings and their payloads."""
    claims = claimed(engine, most=10_000)
    assert claims
    with engine.connect() as connection:
        book = OrderBook(SuiteFolders())
        book.fetch(connection, claims)
        return all(book.order(one).cassette is not None for one in claims)


def test_the_other_half_stays_as_it_was(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    runs = [run(engine, tmp_path / f"s{i % 2}", f"r{i}", scenarios=2, k=3) for i in range(6)]
    kept, gone = runs[::2], runs[1::2]
    before = report(engine, *kept)
    assert exported(database_url, folder, *kept) == before
    pruned = prune_runs(engine, gone)
    assert (pruned.runs, pruned.attempts, pruned.rescued) == (3, 18, ())
    assert report(engine, *kept) == before
    assert exported(database_url, folder, *kept) == before
    store = AnalysisStore(folder)
    assert {one.run_id for one in store.runs()} == set(kept)
    assert store.facts(gone) == []
    for table in ("cells", "attempts"):
        assert {row[0] for row in rows(engine, f"SELECT DISTINCT run_id FROM {table}")} == set(kept)  # noqa: S608
    assert value(engine, "SELECT count(*) FROM transcripts") == 18


def test_doing_it_again_does_nothing(engine: sa.Engine, tmp_path: Path) -> None:
    gone = run(engine, tmp_path, "gone")
    run(engine, tmp_path, "stays")
    prune_runs(engine, [gone])
    sweep_blobs(engine)
    assert prune_runs(engine, [gone]).runs == 0
    assert sweep_blobs(engine) == Swept(0, 0)


def test_what_only_pruned_runs_refer_to_goes_and_no_more(engine: sa.Engine, tmp_path: Path) -> None:
    run(engine, tmp_path / "one", "stays")
    alone = blob_count(engine)
    (tmp_path / "two").mkdir()
    write_large_suite(tmp_path / "two")
    gone = run(engine, tmp_path / "two", "gone")
    shared = run(engine, tmp_path / "one", "shares everything")
    with engine.connect() as connection:
        expected = would_sweep(connection, [gone, shared])
    before = blob_count(engine)
    prune_runs(engine, [gone, shared])
    swept = sweep_blobs(engine)
    assert swept == expected
    assert swept.blobs == before - alone > 0
    assert swept.bytes > 0
    submitted(engine, tmp_path / "one", label="again")
    assert everything_is_there(engine)


def write_large_suite(root: Path) -> None:
    """A suite whose recordings have payloads."""
    steps = ({"user": "How many bolts?"}, ask("count", {}), answer("x" * 5000), say("there are 5"))
    scenario = {"task": "How many bolts?", "checks": [{"final_text": {"contains": "5"}}]}
    write_suite(root, {"count-0": scenario}, [cassette(steps, scenario="count-0", sample=i) for i in range(5)])


def test_payloads_of_recordings_that_stay_stay(engine: sa.Engine, tmp_path: Path) -> None:
    write_large_suite(tmp_path)
    gone = run(engine, tmp_path, "gone", k=2)
    submitted(engine, tmp_path, k=2, label="stays")
    prune_runs(engine, [gone])
    sweep_blobs(engine)
    assert everything_is_there(engine)


def test_files_of_uploaded_suites_stay(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        bodies = {f"{i:x}" * 64: b"some file" for i in range(2)}
        blobs.store(connection, bodies)
        connection.execute(
            sa.text(
                "INSERT INTO suites (name, version, manifest, uploaded_by) "
                "VALUES ('shop', 'v', jsonb_build_object('suite.yaml', cast(:hash AS text)), 'me')"
            ),
            {"hash": "0" * 64},
        )
    assert sweep_blobs(engine).blobs == 1
    assert rows(engine, "SELECT hash FROM blobs") == [("0" * 64,)]


def test_every_column_that_refers_to_a_blob_is_known_to_the_sweep() -> None:
    found = {
        (table.name, column.name)
        for table in metadata.tables.values()
        for column in table.columns
        if (column.comment or "").startswith("blob:")
    }
    assert found == {(table, column) for table, columns in REFERENCES.items() for column in columns}


def test_active_runs_are_not_chosen_and_not_deleted(engine: sa.Engine, tmp_path: Path) -> None:
    run(engine, tmp_path, "done", k=1)
    active = submitted(engine, tmp_path, k=2, label="active").run_id
    claimed(engine, most=1)
    with engine.connect() as connection:
        chosen = selected_runs(connection, older_than=None, keep_last=0, label=None)
        (named,) = named_runs(connection, [active])
    assert [one.label for one in chosen] == ["done"]
    assert (named.active, named.unfinished) == (True, 2)
    assert prune_runs(engine, [active]).rescued == (active,)
    assert value(engine, "SELECT count(*) FROM attempts WHERE state <> 'done'") == 2


def test_a_forced_active_run_goes_and_its_late_result_is_refused(engine: sa.Engine, tmp_path: Path) -> None:
    active = submitted(engine, tmp_path, k=3).run_id
    running = claimed(engine, most=1)
    assert prune_runs(engine, [active], force=True).runs == 1
    assert finish(engine, running) == set()
    assert value(engine, "SELECT count(*) FROM attempts") == 0


@pytest.mark.parametrize(
    ("older", "keep", "label", "expected"),
    [
        (timedelta(days=15), None, None, ["a-1", "a-2"]),
        (None, 2, None, ["a-1", "a-2"]),
        (None, 1, "a-*", ["a-1", "a-2"]),
        (timedelta(days=25), 1, "a-*", ["a-1"]),
        (None, 0, "b_1", []),
        (None, 0, "b-1", ["b-1"]),
    ],
)
def test_runs_are_chosen_by_age_number_and_label(
    engine: sa.Engine, tmp_path: Path, older: timedelta | None, keep: int | None, label: str | None, expected: list[str]
) -> None:
    for days, name in ((30, "a-1"), (20, "a-2"), (10, "a-3"), (5, "b-1")):
        made = run(engine, tmp_path, name, k=1)
        with engine.begin() as connection:
            statement = "UPDATE runs SET created_at = now() - :age, finished_at = now() - :age WHERE run_id = :run"
            connection.execute(sa.text(statement), {"age": timedelta(days=days), "run": made})
    with engine.connect() as connection:
        chosen = selected_runs(connection, older_than=older, keep_last=keep, label=label)
    assert [one.label for one in chosen] == expected


_STOP_IT = """
CREATE FUNCTION stop_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN IF (SELECT count(*) FROM attempts) < 5 THEN RAISE 'killed'; END IF; RETURN NULL; END $$;
CREATE TRIGGER stop_it BEFORE DELETE ON attempts FOR EACH STATEMENT EXECUTE FUNCTION stop_it();
"""


def interrupted(engine: sa.Engine, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prune a run of five attempts and stop after the first batch, as a killed command does."""
    monkeypatch.setattr(pruning, "BATCH", 2)
    with engine.begin() as connection:
        connection.exec_driver_sql(_STOP_IT)
    with pytest.raises(ProgrammingError, match="killed"):
        prune_runs(engine, [run_id])
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER stop_it ON attempts; DROP FUNCTION stop_it();")
    assert value(engine, "SELECT count(*) FROM attempts") == 3


def test_a_prune_that_was_killed_is_taken_up(
    engine: sa.Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "analysis"
    gone = run(engine, tmp_path, "gone", k=5)
    exported(database_url, folder)
    interrupted(engine, gone, monkeypatch)
    assert exported(database_url, folder, gone) == report(engine, gone)
    with engine.connect() as connection:
        assert unfinished_prunes(connection) == [gone]
        assert not named_runs(connection, [gone])[0].active
    assert prune_runs(engine, [gone]).attempts == 3
    exported(database_url, folder)
    assert AnalysisStore(folder).runs() == []


def test_a_run_that_is_submitted_again_meanwhile_stays_and_is_made_whole(
    engine: sa.Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "analysis"
    again = run(engine, tmp_path, "again", k=5)
    before = exported(database_url, folder, again)
    interrupted(engine, again, monkeypatch)
    with engine.begin() as connection:
        rescue(connection, again)
    assert submitted(engine, tmp_path, label="again", k=5).wanted == 5
    finish(engine, claimed(engine))
    assert rows(engine, "SELECT wanted, k FROM runs") == [(5, 5)]
    with engine.connect() as connection:
        finish_runs(connection)
    assert exported(database_url, folder, again)["arms"][0]["valid"] == before["arms"][0]["valid"] == 5
    assert exported(database_url, folder, again) == report(engine, again)


def test_a_run_pruned_and_submitted_again_before_an_export_is_not_doubled(
    engine: sa.Engine, database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "analysis"
    again = run(engine, tmp_path, "again", k=3)
    exported(database_url, folder)
    prune_runs(engine, [again])
    assert run(engine, tmp_path, "again", k=3) == again
    assert exported(database_url, folder, again) == report(engine, again)


def test_submissions_beside_a_prune_lose_nothing(engine: sa.Engine, tmp_path: Path) -> None:
    """Each submission needs the very blobs that the prune before it made garbage."""
    failures: list[BaseException] = []
    stop = threading.Event()

    def prune_all() -> None:
        try:
            while not stop.is_set():
                done = [row[0] for row in rows(engine, "SELECT run_id FROM runs WHERE label LIKE 'gone%'")]
                prune_runs(engine, done, force=True)
                sweep_blobs(engine)
        except BaseException as error:
            failures.append(error)
            raise

    write_large_suite(tmp_path)
    pruner = threading.Thread(target=prune_all)
    pruner.start()
    try:
        for i in range(25):
            submitted(engine, tmp_path, k=5, label=f"gone {i}")
            submitted(engine, tmp_path, k=5, label=f"stays {i}")
    finally:
        stop.set()
        pruner.join()
    assert not failures
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM runs WHERE label LIKE 'gone%'"))
    assert value(engine, "SELECT count(*) FROM attempts") == 125
    assert everything_is_there(engine)


def test_a_blob_found_by_a_transaction_that_is_still_open_is_not_deleted(engine: sa.Engine, tmp_path: Path) -> None:
    write_large_suite(tmp_path)
    gone = run(engine, tmp_path, "gone", k=5)
    prune_runs(engine, [gone])
    swept: list[Swept] = []
    with engine.connect() as slow:
        held = names(engine)
        blobs.store(slow, dict.fromkeys(held, b""))  # all there: nothing is written
        sweeper = threading.Thread(target=lambda: swept.append(sweep_blobs(engine)))
        sweeper.start()
        sweeper.join(1.5)
        assert sweeper.is_alive()
        assert names(engine) == held
        submitted_in(slow, gone)
        slow.commit()
    sweeper.join(20)
    assert swept[0].complete
    assert held[0] in names(engine)
    assert len(names(engine)) < len(held)


def names(engine: sa.Engine) -> Sequence[str]:
    return [row[0] for row in rows(engine, "SELECT hash FROM blobs ORDER BY hash")]


def submitted_in(connection: sa.Connection, run_id: str) -> None:
    """A run whose only cell refers to the first blob."""
    connection.execute(
        sa.text(
            "INSERT INTO runs (run_id, label, mode, state, k, wanted, priority, spec, harness) "
            "VALUES (:run, 'slow', 'replay', 'active', 1, 1, 0, '{}', '{}')"
        ),
        {"run": run_id},
    )
    connection.execute(
        sa.text(
            "INSERT INTO cells (run_id, cell_id, suite, scenario, model, prompt, target, fault, mitigation, tags, "
            "verdict_hash, order_hash) "
            "SELECT :run, 'c', 's', 's', 'm', 'p', '', '', '', '{}', 'v', min(hash) FROM blobs"
        ),
        {"run": run_id},
    )
