"""The conformance suite of the MCP project, by the program that runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from api.stack.addresses import Addresses
from tests.conftest import skip_or_fail
from tests.integration.gateway.gateways import gateway_process

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def folder() -> str:
    """Where the suite is, or is installed to."""
    given = os.environ.get("PASSGRID_MCP_CONFORMANCE")
    if not given:
        skip_or_fail("set PASSGRID_MCP_CONFORMANCE to a folder; npm installs the suite there")
    return given or ""


def test_every_check_passes_or_is_known_not_to(bare_stack: Addresses, gateway_database: str, folder: str) -> None:
    with gateway_process(bare_stack, gateway_database, str(BENCHMARKS / "conformance_fakes.json")) as (url, _):
        command = [sys.executable, str(BENCHMARKS / "conformance.py"), "--url", f"{url}/mcp", "--json"]
        done = subprocess.run([*command, "--folder", folder], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["passed"] >= 29
    assert len(told["failed"]) == 6
