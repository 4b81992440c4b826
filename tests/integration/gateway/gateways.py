"""Real gateway processes over a real database."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

from api.stack.addresses import Addresses

PASSGRID = str(Path(sys.executable).parent / "passgrid")
IMPATIENT = """
from api.cli.main import main
from api.gateway import patience
patience.REQUEST_SECONDS = {seconds}
main()
"""


@contextlib.contextmanager
def gateway_process(
    stack: Addresses, database_url: str, *arguments: str, request_seconds: float | None = None
) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A gateway and its address; killed at the end. request_seconds: within which a request must have come."""
    program = [PASSGRID]
    if request_seconds is not None:
        program = [sys.executable, "-c", IMPATIENT.format(seconds=request_seconds)]
    process = subprocess.Popen(
        [*program, "gateway", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=None if os.environ.get("PASSGRID_TEST_LOUD") else subprocess.DEVNULL,
        text=True,
        env=environment(stack, database_url),
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), "the gateway did not start"
        yield address, process
    finally:
        process.kill()
        process.wait()


def environment(stack: Addresses, database_url: str) -> dict[str, str]:
    """For a command that uses this database."""
    return {**os.environ, "PASSGRID_DATABASE_URL": database_url, "PASSGRID_BROKER_URL": stack.broker_url}
