"""What others see of an installation: metrics, readiness, the doctor's findings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from api.http.app import make_app
from api.http.settings import HttpSettings
from api.stack.addresses import Addresses
from api.stack.stuck_work import work_findings
from passgrid.warehouse import stuck
from passgrid.warehouse.heartbeats import beat
from tests.integration.runs import claimed, finish, rows, submitted


@pytest.fixture
def client(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", database_url)
    with TestClient(make_app(HttpSettings(local=True))) as made:
        yield made


def old_and_unattended(engine: sa.Engine, root: Path) -> None:
    submitted(engine, root, k=2)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE runs SET created_at = now() - interval '10 minutes'"))
    with engine.connect() as connection:
        beat(connection, "scheduler")
        beat(connection, "replay")


def test_metrics_are_served_as_prometheus_reads_them(client: TestClient, engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=3)
    finish(engine, claimed(engine, most=1))
    found = client.get("/metrics")
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("text/plain; version=")
    assert 'passgrid_attempts{queue="replay",state="queued"} 2.0' in found.text
    assert "# TYPE passgrid_recent_attempt_duration_seconds histogram" in found.text


def test_metrics_need_a_token_and_readiness_does_not(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", database_url)
    with TestClient(make_app()) as unknown:
        assert unknown.get("/metrics").status_code == 401
        assert unknown.get("/ready").json() == {"status": "ok"}


def test_metrics_of_a_database_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", f"postgresql+psycopg://passgrid@/passgrid?host={tmp_path}")
    with TestClient(make_app(HttpSettings(local=True))) as made:
        assert made.get("/metrics").status_code == 503


def test_an_installation_that_is_up_and_consumes_nothing_is_not_ready(
    client: TestClient, engine: sa.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stuck, "CONFIRM_SECONDS", 0.1)
    assert client.get("/ready").json() == {"status": "ok"}
    old_and_unattended(engine, tmp_path)
    found = client.get("/ready")
    assert found.status_code == 503
    assert found.json()["status"] == "stuck"
    assert "none took anything" in found.json()["why"][0]
    assert client.get("/health").json() == {"status": "ok"}
    claimed(engine, most=1)
    assert client.get("/ready").json() == {"status": "ok"}


def test_a_database_of_another_version_is_not_ready(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", empty_database_url)
    with TestClient(make_app(HttpSettings(local=True))) as made:
        found = made.get("/ready")
    assert (found.status_code, found.json()["status"]) == (503, "another schema")


def test_the_doctor_says_what_stands_still_and_what_to_do(
    engine: sa.Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stuck, "CONFIRM_SECONDS", 0.1)
    addresses = Addresses(database_url, "unused", None, embedded=False)
    (fine,) = work_findings(addresses)
    assert (fine.ok, fine.detail) == (True, "nothing stands still")
    old_and_unattended(engine, tmp_path)
    (wrong,) = work_findings(addresses)
    assert (wrong.subject, wrong.ok) == ("queue replay", False)
    assert "starting them again loses nothing" in wrong.remedy
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE attempts SET state = 'paused'"))
        connection.execute(sa.text("UPDATE runs SET state = 'paused'"))
    fine, note = work_findings(addresses)
    assert (fine.ok, note.ok) == (True, True)
    assert "passgrid resume" in note.remedy


def test_the_doctor_leaves_a_database_that_cannot_be_asked_to_other_findings(
    empty_database_url: str, tmp_path: Path
) -> None:
    away = f"postgresql+psycopg://passgrid@/passgrid?host={tmp_path}"
    for url in (empty_database_url, away):
        assert list(work_findings(Addresses(url, "unused", None, embedded=False))) == []


@pytest.mark.parametrize("kind", ["replay", "live"])
def test_a_worker_host_says_that_it_is_there_and_that_it_leaves(
    engine: sa.Engine, database_url: str, bare_stack: Addresses, kind: str
) -> None:
    environment = {
        **os.environ,
        "PASSGRID_DATABASE_URL": database_url,
        "PASSGRID_BROKER_URL": bare_stack.broker_url,
        "PASSGRID_REPLAY_PROCESSES": "2",
    }
    host = subprocess.Popen([sys.executable, "-m", "workers.host", kind], env=environment, stderr=subprocess.DEVNULL)
    try:
        expected = 2 if kind == "replay" else 1
        deadline = time.monotonic() + 30
        while len(beats(engine)) < expected and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [found for found, _ in beats(engine)] == [kind] * expected
        assert kind == "replay" or beats(engine)[0][1] == host.pid
        host.send_signal(signal.SIGTERM)
        host.wait(20)
        assert beats(engine) == []
    finally:
        host.kill()
        host.wait()


def beats(engine: sa.Engine) -> list[tuple[str, int]]:
    return [(row.kind, row.pid) for row in rows(engine, "SELECT kind, pid FROM heartbeats")]
