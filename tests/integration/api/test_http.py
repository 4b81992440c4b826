"""The HTTP API: the operations of the command line, with clear refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient

from api.http.app import make_app
from api.http.settings import HttpSettings
from tests.integration.runs import claimed, finish, plan, submitted


@pytest.fixture
def client(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", database_url)
    monkeypatch.setenv("PASSGRID_LIBRARY", str(tmp_path))
    plan(tmp_path)
    with TestClient(make_app(HttpSettings(local=True))) as made:
        yield made


def test_submit_follow_and_read(client: TestClient, engine: sa.Engine) -> None:
    body = {"suites": ["shop"], "models": ["recorded:gpt"], "k": 3, "label": "http"}
    dry = client.post("/runs", params={"dry_run": True}, json=body).json()
    assert (dry["wanted"], dry["reused"], dry["new_attempts"]) == (3, 0, 3)
    made = client.post("/runs", json=body)
    assert made.status_code == 201
    run = made.json()["run"]
    assert made.json()["new_attempts"] == 3
    assert client.post("/runs", json=body).json()["new_attempts"] == 0
    finish(engine, claimed(engine, most=2))
    progress = client.get(f"/runs/{run[:8]}").json()
    assert (progress["done"], progress["wanted"]) == (2, 3)
    assert progress["arms"][0]["outcomes"] == {"passed": 2}
    assert [found["run"] for found in client.get("/runs").json()] == [run]
    (arm,) = client.get("/report", params={"run": "http"}).json()["arms"]
    assert (arm["valid"], arm["wanted"], arm["passed"]) == (2, 3, 2)
    attempts = client.get(f"/runs/{run}/attempts", params={"outcome": "passed"}).json()
    assert len(attempts) == 2
    one = client.get(f"/runs/{run}/attempts/{attempts[0]['attempt_id']}").json()
    assert one["tool_calls"][0]["tool"] == "count"
    assert len(client.get(f"/runs/{run}/attempts/{attempts[0]['attempt_id']}/transcript").json()) == 5


def test_cancel_and_resume(client: TestClient, engine: sa.Engine, tmp_path: Path) -> None:
    run = submitted(engine, tmp_path, k=4).run_id
    assert client.post(f"/runs/{run}/cancel", params={"dry_run": True}).json()["attempts"] == 4
    assert client.post(f"/runs/{run}/cancel").json()["attempts"] == 4
    assert client.post(f"/runs/{run}/resume").json()["attempts"] == 4


@pytest.mark.parametrize("suite", ["../shop", "/etc", "a/b", ".hidden"])
def test_suites_are_never_given_by_path(client: TestClient, suite: str) -> None:
    found = client.post("/runs", json={"suites": [suite], "models": ["recorded:gpt"], "k": 1})
    assert found.status_code == 422
    assert "is not the name of a suite" in found.json()["problems"][0]


def test_every_problem_of_a_submission_is_told(client: TestClient) -> None:
    body = {"suites": ["shop"], "models": ["gpt", "openai:x"], "k": 1, "prompts": ["none-such"]}
    assert len(client.post("/runs", json=body).json()["problems"]) == 3


@pytest.mark.parametrize("path", ["/runs/nothing", "/runs/nothing/attempts", "/runs/nothing/attempts/x/transcript"])
def test_what_is_not_there_is_404(client: TestClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code == 404
    assert "no run starts with nothing" in found.json()["problems"][0]


def test_a_path_is_no_pattern(client: TestClient, engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path)
    assert client.get("/runs/%25%25%25%25").status_code == 404
    assert client.get("/runs/____").status_code == 404


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ok"}


def test_a_database_that_is_away_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", f"postgresql+psycopg://passgrid@/passgrid?host={tmp_path}")
    with TestClient(make_app()) as made:
        assert made.get("/health").status_code == 200
        assert made.get("/ready").status_code == 503
