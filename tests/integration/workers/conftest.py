"""A site for the tests that need several processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.stack.addresses import Addresses
from tests.integration.hosts import Site, site_on


@pytest.fixture
def site(bare_stack: Addresses, database_url: str, engine: sa.Engine, tmp_path: Path) -> Iterator[Site]:
    """A fresh database, an empty broker, and no process yet."""
    with site_on(database_url, bare_stack.broker_url, engine, tmp_path) as made:
        yield made
