"""What no request gets past: its size, the host it names, other sites' pages, and what no database holds."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.http.app import make_app
from api.http.private_socket import prepare_socket
from api.http.settings import HttpSettings, listening
from passgrid.access import Role
from tests.integration.api.callers import As, bearer


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("path", ["/runs", "/tokens"])
def test_a_body_too_large_is_refused_with_and_without_its_length(as_role: As, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    admin = as_role(Role.ADMIN)
    assert admin.post(path, content=b"x" * 100_001, headers=headers).status_code == 413
    assert admin.post(path, content=chunks(200_000), headers=headers).status_code == 413
    assert admin.post(path, content=b"x" * 99_000, headers=headers).status_code == 422


def test_uploads_may_be_larger(as_role: As) -> None:
    headers = {"Content-Type": "application/json"}
    author = as_role(Role.AUTHOR)
    assert author.put("/suites/till", content=chunks(900_000), headers=headers).status_code == 422
    assert author.put("/suites/till", content=chunks(1_100_000), headers=headers).status_code == 413


def test_a_body_that_is_too_large_is_not_read_to_its_end(as_role: As) -> None:
    sent: list[int] = []

    def endless() -> Iterator[bytes]:
        for number in range(10_000):
            sent.append(number)
            yield b"x" * 1000

    assert as_role(Role.SUBMIT).post("/runs", content=endless()).status_code == 413


def test_a_stranger_with_a_large_body_is_told_to_bring_a_token(as_role: As) -> None:
    assert as_role(None).put("/suites/till", content=b"x" * 2_000_000).status_code == 401


def test_pages_of_other_sites_get_no_permission(as_role: As) -> None:
    origin = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    preflight = as_role(None).options("/runs", headers=origin)
    allowed = as_role(Role.READ).get("/runs", headers=origin)
    for answer in (preflight, allowed):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert preflight.status_code == 401


def test_answers_are_neither_shown_as_pages_nor_kept(as_role: As) -> None:
    for answer in (as_role(Role.READ).get("/runs"), as_role(None).get("/runs"), as_role(None).get("/health")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]


def test_there_are_no_pages_that_load_programs(as_role: As) -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert as_role(Role.ADMIN).get(path).status_code == 404


def test_a_server_on_loopback_answers_to_its_own_names_only(app: FastAPI, engine: sa.Engine) -> None:
    own = ["127.0.0.1:8400", "localhost", "LOCALHOST:1", "[::1]:8400"]
    others = ["elsewhere.example", "127.0.0.1.elsewhere.example", ""]
    headers = bearer(engine, Role.READ)
    with TestClient(make_app(listening({}).settings)) as client:
        for host in own + others:
            status = 200 if host in own else 421
            assert client.get("/runs", headers={**headers, "Host": host}).status_code == status, host
            assert client.get("/health", headers={"Host": host}).status_code == status, host


def test_a_nul_in_the_address_is_refused(as_role: As) -> None:
    for path in ("/runs/%00", "/runs?limit=%00", "/report?run=a%00b", "/runs/abcd/attempts/%00"):
        found = as_role(Role.READ).get(path)
        assert found.status_code == 400, path
        assert "NUL" in found.json()["problems"][0]


def test_what_is_not_utf8_in_the_address_names_nothing(as_role: As) -> None:
    for path in ("/runs/%ED%A0%80", "/runs/abcd/attempts/%FF", "/report?run=%ED%A0%80"):
        assert as_role(Role.READ).get(path).status_code in {404, 422}, path


def test_what_no_database_holds_is_refused(as_role: As) -> None:
    start = b'{"suites": ["shop"], "models": ["recorded:gpt"], "k": 1'
    bodies = [
        start + b', "label": "a\\u0000b"}',
        start + b', "label": "\\ud800"}',
        start + b', "limit": 1' + b"0" * 400 + b"}",
        start + b"0" * 5000 + b"}",
        start[:-1] + b"NaN}",
        b"[" * 90_000,
        b"\xff\xfe",
        b"null",
    ]
    for body in bodies:
        found = as_role(Role.SUBMIT).post("/runs", content=body, headers={"Content-Type": "application/json"})
        assert found.status_code in {400, 422}, body[:100]
        assert found.json()["problems"]


def test_a_database_that_is_away_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSGRID_DATABASE_URL", f"postgresql+psycopg://passgrid@/passgrid?host={tmp_path}")
    token = {"Authorization": f"Bearer pg_{'0' * 12}_{'0' * 64}"}
    for settings in (HttpSettings(), HttpSettings(local=True)):
        with TestClient(make_app(settings)) as client:
            for answer in (client.get("/runs", headers=token), client.post("/runs", headers=token)):
                assert answer.status_code == 503
                assert "the database does not answer" in answer.json()["problems"][0]


def test_nobody_else_can_open_the_private_socket(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    prepare_socket(path)
    prepare_socket(path)
    assert stat.filemode(path.stat().st_mode) == "srw-------"


def test_the_server_keeps_the_socket_private(database_url: str, tmp_path: Path) -> None:
    import httpx2

    from tests.integration.api.serving import served

    path = tmp_path / "api.sock"
    with served({"PASSGRID_DATABASE_URL": database_url, "PASSGRID_API_SOCKET": str(path)}, path):
        assert stat.filemode(path.stat().st_mode) == "srw-------"
        assert path.stat().st_uid == os.geteuid()
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(path)), base_url="http://passgrid") as client:
            assert client.get("/audit").json() == []
            assert "server" not in client.get("/health").headers
