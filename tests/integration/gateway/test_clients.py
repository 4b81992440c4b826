"""Clients that others wrote, against a real gateway: the program that prints the table of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.stack.addresses import Addresses
from benchmarks.gateway_clients import NOT_SPOKEN, PASS
from benchmarks.gateway_connections import CLIENTS
from benchmarks.gateway_operations import OPERATIONS
from tests.conftest import skip_or_fail
from tests.integration.gateway.gateways import gateway_process

PROGRAM = Path(__file__).resolve().parents[3] / "benchmarks" / "gateway_clients.py"


@pytest.fixture(scope="module")
def rows(bare_stack: Addresses, gateway_database: str) -> dict[str, dict[str, Any]]:
    """What the program prints of each client."""
    with gateway_process(bare_stack, gateway_database) as (url, _):
        command = [sys.executable, str(PROGRAM), "--url", url, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert done.stdout, done.stderr
    return {row["client"]: row for row in json.loads(done.stdout)}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_can_do_everything_that_its_protocol_has(rows: dict[str, dict[str, Any]], name: str) -> None:
    row = rows[name]
    if "missing" in row:
        skip_or_fail(row["missing"])
    assert list(row["operations"]) == list(OPERATIONS)
    not_there = {"ping"} if row["protocol"] == "2026-07-28" else set[str]()
    expected = {operation: NOT_SPOKEN if operation in not_there else PASS for operation in OPERATIONS}
    assert row["operations"] == expected
