"""The API as it is served over TCP, with a library of one suite called shop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.http.app import make_app
from api.http.settings import HttpSettings
from passgrid.access import Role
from tests.integration.api.callers import As, bearer
from tests.integration.runs import plan


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The server's library."""
    folder = tmp_path / "library"
    plan(folder)
    return folder


@pytest.fixture
def app(database_url: str, library: Path, monkeypatch: pytest.MonkeyPatch) -> FastAPI:
    """The application on a fresh database."""
    monkeypatch.setenv("PASSGRID_DATABASE_URL", database_url)
    monkeypatch.setenv("PASSGRID_LIBRARY", str(library))
    return make_app(HttpSettings(max_body=100_000, max_upload=1_000_000))


@pytest.fixture
def as_role(app: FastAPI, engine: sa.Engine) -> Iterator[As]:
    """Clients by role."""
    clients: dict[Role | None, TestClient] = {}
    with TestClient(app) as first:
        clients[None] = first

        def client(role: Role | None) -> TestClient:
            if role not in clients:
                assert role is not None
                clients[role] = TestClient(app, headers=bearer(engine, role))
                # One event loop for all, as in a server.
                clients[role].portal = first.portal
            return clients[role]

        yield client
