"""Everything that was asked to change something has its row, whatever came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.tokens import create_locally, revoke_locally
from passgrid.access import Role
from passgrid.problems import InvalidInput
from passgrid.warehouse import audit
from tests.integration.api.callers import As, bearer
from tests.integration.runs import rows, submitted, value

ROWS = "SELECT actor, action, subject, outcome, status FROM audit WHERE action NOT LIKE 'token%' ORDER BY id"


def test_what_was_done_and_refused_is_kept(as_role: As, engine: sa.Engine, tmp_path: Path) -> None:
    run = submitted(engine, tmp_path).run_id
    as_role(Role.SUBMIT).post(f"/runs/{run[:8]}/cancel")
    as_role(Role.READ).post(f"/runs/{run[:8]}/cancel")
    as_role(None).post(f"/runs/{run[:8]}/cancel")
    as_role(Role.SUBMIT).post("/runs/nothing/resume")
    as_role(Role.SUBMIT).post("/runs", json={})
    as_role(Role.SUBMIT).post("/runs", content=b"x" * 200_000)
    as_role(Role.ADMIN).post("/tokens", json={"name": "x", "role": "read"})
    as_role(Role.ADMIN).delete("/nowhere")
    short = f"/runs/{run[:8]}/cancel"
    assert rows(engine, ROWS) == [
        ("submit-token", "POST /runs/{run}/cancel", short, "done", 200),
        ("read-token", "POST /runs/{run}/cancel", short, "refused", 403),
        (None, "POST", short, "refused", 401),
        ("submit-token", "POST /runs/{run}/resume", "/runs/nothing/resume", "refused", 404),
        ("submit-token", "POST /runs", "/runs", "refused", 422),
        ("submit-token", "POST /runs", "/runs", "refused", 413),
        ("admin-token", "POST /tokens", "/tokens", "done", 201),
        ("admin-token", "DELETE", "/nowhere", "refused", 404),
    ]
    assert value(engine, "SELECT detail FROM audit WHERE status = 200") == {"run": run, "dry_run": False, "attempts": 2}


def test_reading_leaves_no_row(as_role: As, engine: sa.Engine) -> None:
    as_role(Role.READ).get("/runs")
    as_role(None).get("/runs")
    assert rows(engine, ROWS) == []


def test_an_admin_reads_it_page_by_page(as_role: As) -> None:
    admin = as_role(Role.ADMIN)
    for number in range(3):
        admin.delete(f"/tokens/{number}")
    newest = admin.get("/audit", params={"limit": 2}).json()
    assert [entry["subject"] for entry in newest] == ["/tokens/2", "/tokens/1"]
    older = admin.get("/audit", params={"before": newest[-1]["id"]}).json()
    assert [entry["subject"] for entry in older] == ["/tokens/0", "admin-token"]


def test_the_commands_for_tokens_leave_rows_of_the_local_user(engine: sa.Engine) -> None:
    create_locally(engine, "ci", "submit", 30)
    revoke_locally(engine, "ci")
    with pytest.raises(InvalidInput):
        create_locally(engine, "ci", "submit", None)
    assert rows(engine, "SELECT actor, action, subject, outcome FROM audit ORDER BY id") == [
        ("local", "token create", "ci", "done"),
        ("local", "token revoke", "ci", "done"),
    ]


def test_a_handler_that_breaks_leaves_a_row_that_says_so(app: FastAPI, engine: sa.Engine) -> None:
    @app.post("/broken")
    def broken() -> None:
        raise RuntimeError("broken")

    assert callable(broken)
    with TestClient(app, raise_server_exceptions=False) as client:
        assert client.post("/broken", headers=bearer(engine, Role.READ)).status_code == 500
    assert rows(engine, ROWS) == [("read-token", "POST /broken", "/broken", "failed", 500)]


def test_what_a_stranger_sends_is_stored_harmlessly(engine: sa.Engine) -> None:
    hostile: dict[str, Any] = {"problem": "a\0b\ud800", "number": float("nan")}
    with engine.begin() as connection:
        audit.record(connection, None, "POST", "/\0\ud800" + "x" * 9999, "refused", detail=hostile)
    (entry,) = rows(engine, "SELECT subject, detail FROM audit")
    assert entry.subject.startswith("/\ufffd\ufffdxxx")
    assert len(entry.subject) == audit.LONGEST
    assert entry.detail["problem"] == "a\ufffdb\ufffd"


def test_a_change_is_written_down_before_it_is_made(as_role: As, app: FastAPI, engine: sa.Engine) -> None:
    seen: list[Any] = []

    @app.post("/slow")
    def slow() -> None:
        seen.extend(rows(engine, ROWS))

    assert callable(slow)
    as_role(Role.READ).post("/slow")
    assert seen == [("read-token", "POST", "/slow", "begun", None)]
