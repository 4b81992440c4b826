"""`passgrid token`, against a database of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from api.cli.main import make_app
from api.stack.addresses import Addresses
from passgrid.access import Token
from passgrid.problems import InvalidInput
from passgrid.warehouse.access import known_token
from tests.integration.runs import value


@pytest.fixture
def run(database_url: str, bare_stack: Addresses, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs `passgrid token` with these words."""
    monkeypatch.setenv("PASSGRID_DATABASE_URL", database_url)
    monkeypatch.setenv("PASSGRID_BROKER_URL", bare_stack.broker_url)

    def invoke(*words: str) -> Any:
        return CliRunner().invoke(make_app(), ["token", *words])

    return invoke


def test_only_the_token_goes_to_stdout_once(run: Any, engine: sa.Engine) -> None:
    made = run("create", "ci", "--role", "submit", "--days", "9")
    assert made.exit_code == 0
    token = Token.parse(made.stdout.strip())
    assert token is not None
    assert "not shown again" in made.stderr
    with engine.connect() as connection:
        known = known_token(connection, token)
    assert known is not None
    assert (known.name, known.role, known.state) == ("ci", "submit", "valid")
    assert token.secret not in run("list").output + run("list", "--json").output


def test_tokens_are_listed_and_revoked(run: Any, engine: sa.Engine) -> None:
    assert "there is no token" in run("list").stdout
    made = json.loads(run("create", "ci", "--role", "read", "--json").stdout)
    assert Token.parse(made["token"])
    assert "valid" in run("list").stdout
    assert "is revoked" in run("revoke", "ci").stdout
    (listed,) = json.loads(run("list", "--json").stdout)
    assert (listed["name"], listed["state"]) == ("ci", "revoked")
    assert value(engine, "SELECT count(*) FROM audit WHERE actor = 'local'") == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["create", "ci", "--role", "root"], "no such role; there are: read, submit, author, admin"),
        (["create", "a b", "--role", "read"], "letters, digits"),
        (["create", "local", "--role", "read"], "the user of this machine"),
        (["create", "ci", "--role", "read", "--days", "0"], "must be 1 to"),
        (["revoke", "nobody"], "no token is called nobody"),
    ],
)
def test_mistakes_are_told(run: Any, engine: sa.Engine, words: list[str], why: str) -> None:
    found = run(*words)
    assert isinstance(found.exception, InvalidInput)
    assert why in str(found.exception)
    assert value(engine, "SELECT count(*) FROM api_tokens") == 0


def test_a_name_is_given_once(run: Any) -> None:
    run("create", "ci", "--role", "read")
    run("revoke", "ci")
    assert "there is or was one of this name" in str(run("create", "ci", "--role", "read").exception)
