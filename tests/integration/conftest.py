"""Real Postgres and a real broker for all of these tests, and a fresh migrated database for each."""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.stack.addresses import Addresses
from api.stack.home import Home
from api.stack.join import joined_stack, release
from api.stack.parts import Parts
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.migrate import upgrade

PARTS = Parts(
    migrate="tests.integration.bare_stack:migrate",
    runnable="tests.integration.bare_stack:runnable",
    services="tests.integration.bare_stack:SERVICES",
)
TEMPLATE = "migrated"
_numbers = itertools.count()


@pytest.fixture(scope="session")
def bare_stack() -> Iterator[Addresses]:
    """Addresses of Postgres and broker, for the whole session."""
    with tempfile.TemporaryDirectory(prefix="passgrid tests ") as folder:
        home = Home(Path(folder) / "home")
        with pytest.MonkeyPatch.context() as environment:
            for name in ("PASSGRID_DATABASE_URL", "PASSGRID_BROKER_URL"):
                environment.delenv(name, raising=False)
            with joined_stack(home, PARTS) as addresses:
                _statement(addresses.database_url, f"CREATE DATABASE {TEMPLATE}")
                upgrade(named(addresses.database_url, TEMPLATE))
                yield addresses
        release(home)


@pytest.fixture
def database_url(bare_stack: Addresses) -> str:
    """A migrated database that nobody has used."""
    name = f"test_{next(_numbers)}"
    _statement(bare_stack.database_url, f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    return named(bare_stack.database_url, name)


@pytest.fixture
def empty_database_url(bare_stack: Addresses) -> str:
    """A database without any table."""
    name = f"test_{next(_numbers)}"
    _statement(bare_stack.database_url, f"CREATE DATABASE {name}")
    return named(bare_stack.database_url, name)


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    """An engine on a fresh database."""
    made = make_engine(database_url, pool_size=5)
    yield made
    made.dispose()


def named(database_url: str, name: str) -> str:
    """The address of another database of the same cluster."""
    return re.sub(r"/passgrid\?", f"/{name}?", database_url)


def psycopg_url(database_url: str) -> str:
    """The address as libpq spells it."""
    return database_url.replace("postgresql+psycopg:", "postgresql:")


def _statement(database_url: str, statement: str) -> None:
    made = sa.create_engine(database_url, isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        connection.exec_driver_sql(statement)
    made.dispose()
