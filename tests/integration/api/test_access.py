"""Who may do what over TCP."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from api.http.app import make_app
from api.http.entrance import OPEN
from api.http.roles import GuardedRoute, RoleNeeded, needs, roles_needed
from api.http.settings import HttpSettings
from api.tokens import create_locally, revoke_locally
from passgrid.access import Role
from tests.integration.api.callers import As, bearer
from tests.integration.runs import value

UNKNOWN = f"pg_{'0' * 12}_{'0' * 64}"
CHANGES = [
    ("POST", "/runs", Role.SUBMIT),
    ("POST", "/runs/abcd/cancel", Role.SUBMIT),
    ("POST", "/runs/abcd/resume", Role.SUBMIT),
    ("PUT", "/suites/new", Role.AUTHOR),
    ("POST", "/tokens", Role.ADMIN),
    ("DELETE", "/tokens/x", Role.ADMIN),
    ("GET", "/tokens", Role.ADMIN),
    ("GET", "/audit", Role.ADMIN),
    ("GET", "/runs", Role.READ),
    ("GET", "/suites", Role.READ),
    ("GET", "/openapi.json", Role.READ),
]


def test_every_route_declares_its_role(app: FastAPI) -> None:
    without = {
        route.path
        for route in iter_route_contexts(app.routes)
        if not roles_needed(route) or not isinstance(route.original_route, GuardedRoute)
    }
    assert without == OPEN


def test_each_role_may_do_what_those_before_it_may() -> None:
    roles = list(Role)
    assert [[one.covers(other) for other in roles] for one in roles] == [
        [True, False, False, False],
        [True, True, False, False],
        [True, True, True, False],
        [True, True, True, True],
    ]


def test_a_role_too_small_is_refused_before_the_body_is_read(as_role: As) -> None:
    for (method, path, needed), role in itertools.product(CHANGES, Role):
        found = as_role(role).request(method, path, content=b"no json")
        if role.covers(needed):
            assert found.status_code not in {401, 403}, (method, path, role)
        else:
            assert found.status_code == 403, (method, path, role)
            problem = f"this needs the role {needed}, and the token {role}-token has the role {role}"
            assert found.json()["problems"] == [problem]


@pytest.mark.parametrize(
    "header", [None, "Bearer", f"Bearer {UNKNOWN}", "Bearer nonsense", "Basic YTpi", "Bearer \xff"]
)
def test_without_a_valid_token_nothing_is_answered(as_role: As, header: str | None) -> None:
    headers = [(b"Authorization", header.encode("latin-1"))] if header is not None else []
    for method, path, _ in [*CHANGES, ("GET", "/nothing", Role.READ)]:
        found = as_role(None).request(method, path, headers=headers, content=b"{}")
        assert found.status_code == 401, (method, path)
        assert found.headers["WWW-Authenticate"].startswith('Bearer realm="passgrid"')
        assert "passgrid token create" in found.json()["problems"][0]


def test_a_fresh_server_has_no_token(as_role: As, engine: sa.Engine) -> None:
    assert value(engine, "SELECT count(*) FROM api_tokens") == 0
    assert as_role(None).get("/runs").status_code == 401


def test_health_needs_no_token(as_role: As) -> None:
    assert [as_role(None).get(path).status_code for path in sorted(OPEN)] == [200, 200]


def test_a_revoked_token_is_refused_at_once(as_role: As, engine: sa.Engine) -> None:
    client = as_role(Role.READ)
    assert client.get("/runs").status_code == 200
    revoke_locally(engine, "read-token")
    found = client.get("/runs")
    assert found.status_code == 401
    assert "the token read-token is revoked" in found.json()["problems"][0]


def test_an_expired_token_is_refused(as_role: As, engine: sa.Engine) -> None:
    made = create_locally(engine, "short", "admin", 1)
    headers = {"Authorization": f"Bearer {made.text}"}
    assert as_role(None).get("/runs", headers=headers).status_code == 200
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE api_tokens SET expires_at = now() - interval '1 second'"))
    found = as_role(None).get("/runs", headers=headers)
    assert found.status_code == 401
    assert "the token short is expired" in found.json()["problems"][0]


def test_the_id_of_a_token_with_another_secret_is_refused(as_role: As, engine: sa.Engine) -> None:
    made = create_locally(engine, "mine", "admin", None)
    forged = made.text[:-64] + "f" * 64
    found = as_role(None).get("/runs", headers={"Authorization": f"Bearer {forged}"})
    assert found.status_code == 401
    assert "is not known here" in found.json()["problems"][0]


def test_only_the_hash_of_a_secret_is_kept(engine: sa.Engine) -> None:
    made = create_locally(engine, "mine", "admin", None)
    secret = made.text.rpartition("_")[2]
    for table in ("api_tokens", "audit"):
        assert secret not in value(engine, f"SELECT string_agg(t::text, '') FROM {table} t")  # noqa: S608


def test_the_last_use_is_kept_to_the_minute(as_role: As, engine: sa.Engine) -> None:
    as_role(Role.READ).get("/runs")
    first = value(engine, "SELECT last_used_at FROM api_tokens")
    as_role(Role.READ).get("/runs")
    assert first is not None
    assert value(engine, "SELECT last_used_at FROM api_tokens") == first


def test_tokens_are_given_listed_and_revoked_by_an_admin(as_role: As) -> None:
    admin = as_role(Role.ADMIN)
    made = admin.post("/tokens", json={"name": "ci", "role": "submit", "days": 30})
    assert made.status_code == 201
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    assert as_role(None).get("/runs", headers=headers).status_code == 200
    assert admin.post("/tokens", json={"name": "ci", "role": "read"}).status_code == 422
    listed = admin.get("/tokens")
    assert {one["name"]: one["state"] for one in listed.json()} == {"admin-token": "valid", "ci": "valid"}
    assert made.json()["token"].rpartition("_")[2] not in listed.text
    assert admin.delete("/tokens/ci").json()["state"] == "revoked"
    assert as_role(None).get("/runs", headers=headers).status_code == 401
    assert admin.delete("/tokens/nobody").status_code == 404


@pytest.mark.parametrize(
    "body",
    [{"name": "a b", "role": "read"}, {"name": "local", "role": "read"}, {"name": "x", "role": "root"}, {"name": "x"}],
)
def test_a_token_that_cannot_be_made_says_why(as_role: As, body: dict[str, Any]) -> None:
    found = as_role(Role.ADMIN).post("/tokens", json=body)
    assert found.status_code == 422
    assert found.json()["problems"]


def test_the_private_socket_makes_every_caller_the_local_user(app: FastAPI, engine: sa.Engine) -> None:
    with TestClient(make_app(HttpSettings(local=True))) as client:
        assert client.get("/audit").status_code == 200
        assert client.post("/tokens", json={"name": "x", "role": "read"}).status_code == 201
    assert value(engine, "SELECT actor FROM audit") == "local"


def test_no_header_makes_a_caller_local(as_role: As) -> None:
    headers = {"Host": "localhost", "X-Forwarded-For": "127.0.0.1", "Forwarded": "for=_unix", "X-Role": "admin"}
    assert as_role(None).get("/audit", headers=headers).status_code == 401


def test_a_route_outside_the_guard_still_checks_its_role(app: FastAPI, engine: sa.Engine) -> None:
    @app.get("/plain", dependencies=[needs(Role.ADMIN)])
    def plain() -> str:
        return "seen"

    assert isinstance(roles_needed(app.routes[-1])[0], RoleNeeded)
    assert callable(plain)
    with TestClient(app) as client:
        assert client.get("/plain").status_code == 401
        assert client.get("/plain", headers=bearer(engine, Role.AUTHOR)).status_code == 403
        assert client.get("/plain", headers=bearer(engine, Role.ADMIN)).json() == "seen"
