"""One gateway process with two handlers behind its fakes, for every case; each case begins with nothing loaded."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import sqlalchemy as sa

from api.stack.addresses import Addresses
from tests.integration.conftest import TEMPLATE, named
from tests.integration.gateway.gateways import gateway_process
from tests.integration.gateway.wires import HANDSHAKE, MODERN, HttpWire, InProcessWire, StdioWire, Wire

HANDLERS = Path(__file__).parent / "handler_server.py"
CAP = 2
_numbers = itertools.count()


@dataclass(frozen=True)
class Served:
    """A gateway process, and where its handlers write."""

    url: str
    ran: Path


@pytest.fixture(scope="module")
def gateway_database(bare_stack: Addresses) -> str:
    """A migrated database for the gateways of one module."""
    name = f"gateway_{next(_numbers)}"
    made = sa.create_engine(bare_stack.database_url, isolation_level="AUTOCOMMIT")
    with made.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    made.dispose()
    return named(bare_stack.database_url, name)


@pytest.fixture(scope="module")
def served(bare_stack: Addresses, gateway_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway whose cap is two."""
    folder = tmp_path_factory.mktemp("handlers")
    ran = folder / "ran"
    servers = folder / "servers.json"
    server = {"command": sys.executable, "args": [str(HANDLERS), str(ran)]}
    servers.write_text(json.dumps({"mcpServers": {"handlers": server}}))
    options = ("--servers", str(servers), "--cap", str(CAP))
    with gateway_process(bare_stack, gateway_database, *options) as (url, _):
        yield Served(url, ran)


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    """For requests over HTTP."""
    async with httpx2.AsyncClient(timeout=30) as client:
        yield client


VERSIONS = (*HANDSHAKE, MODERN)
EVERYWHERE = (*(f"http-{version}" for version in VERSIONS), "stdio", "in-process")


def http_wire(served: Served, client: httpx2.AsyncClient, version: str) -> HttpWire:
    """A way to the gateway in one version."""
    return HttpWire(f"http-{version}", served.url, version, served.ran, client)


@pytest.fixture(params=EVERYWHERE)
async def wire(request: pytest.FixtureRequest, client: httpx2.AsyncClient) -> Wire:
    """Every carrier, with nothing loaded."""
    if request.param == "in-process":
        return InProcessWire(CAP)
    if request.param == "stdio":
        return StdioWire(CAP)
    served: Served = request.getfixturevalue("served")
    made = http_wire(served, client, request.param.removeprefix("http-"))
    await made.reset()
    served.ran.unlink(missing_ok=True)
    return made


@pytest.fixture(params=VERSIONS)
async def http(request: pytest.FixtureRequest, served: Served, client: httpx2.AsyncClient) -> HttpWire:
    """HTTP in every version, with nothing loaded."""
    made = http_wire(served, client, request.param)
    await made.reset()
    return made
