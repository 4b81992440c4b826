"""Every operation of the description, with input that fits it and input that does not, from callers of every kind.

No input brings the server down, and no operation does anything for a caller without its role.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import sqlalchemy as sa
from fastapi.routing import iter_route_contexts
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode
from schemathesis.python import asgi

from api.http.app import make_app
from api.http.entrance import OPEN
from api.http.roles import roles_needed
from passgrid.access import Role
from tests.integration.api.callers import bearer
from tests.integration.runs import submitted, value

EXAMPLES = 10
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def _operations() -> dict[str, Any]:
    """Every operation by its method and path. What it says of tokens is left out: else headers for them are made up."""
    document = make_app().openapi()
    del document["components"]["securitySchemes"]
    for path in document["paths"].values():
        for operation in path.values():
            operation.pop("security", None)
    schema: Any = schemathesis.openapi.from_dict(document)
    return {operation.label: operation for operation in (result.ok() for result in schema.get_all_operations())}


GATEWAY = "/gateway/"
OPERATIONS = _operations()
NEEDED: dict[str, Role] = {
    f"{method} {route.path}": max((one.role for one in roles_needed(route)), key=list(Role).index)
    for route in iter_route_contexts(make_app().routes)
    # The gateway speaks protocols of its own, and answers in their forms: tests/integration/gateway.
    if route.path not in OPEN and not (route.path or "").startswith(GATEWAY)
    for method in route.methods or ()
}


@pytest.fixture
def existing(engine: sa.Engine, tmp_path: Path) -> Mapping[str, str]:
    """Names of things that are there."""
    run = submitted(engine, tmp_path / "suites").run_id
    return {"run": run[:8], "attempt": value(engine, "SELECT min(attempt_id) FROM attempts"), "name": "shop"}


@pytest.fixture
def client(app: Any) -> Iterator[asgi.ASGIClient]:
    """Speaks to the application without a network."""
    with asgi.get_client(app) as made:
        yield made
    asgi.shutdown_lifespans()


def test_every_operation_is_described() -> None:
    assert set(OPERATIONS) == {*NEEDED, *(f"GET {path}" for path in OPEN)}


@pytest.mark.parametrize("label", sorted(NEEDED))
def test_no_input_breaks_an_operation_or_gets_past_its_role(
    label: str, client: asgi.ASGIClient, engine: sa.Engine, existing: Mapping[str, str]
) -> None:
    needed = NEEDED[label]
    admin = bearer(engine, Role.ADMIN)
    too_small = [bearer(engine, role) for role in Role if not role.covers(needed)]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=SLOW_IS_FINE,
    )
    @given(case=_cases(OPERATIONS[label], existing))
    def tried(case: Any) -> None:
        assert case.call(session=client).status_code in {400, 401}
        for headers in too_small:
            assert case.call(session=client, headers=headers).status_code in {400, 403, 413}
        found = case.call(session=client, headers=admin)
        assert found.status_code < 500, found.text
        assert found.status_code not in {401, 403}, found.text
        if found.status_code >= 400:
            assert found.json()["problems"]

    tried()


def _cases(operation: Any, existing: Mapping[str, str]) -> st.SearchStrategy[Any]:
    """Input that fits the description and input that does not, for things that are there and things that are not."""
    named = {name: text for name, text in existing.items() if f"{{{name}}}" in operation.path}
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    strategies: list[st.SearchStrategy[Any]] = [operation.as_strategy(mode) for mode in modes]
    if named:
        strategies += [operation.as_strategy(mode, path_parameters=named) for mode in modes]
    return st.one_of(strategies)
