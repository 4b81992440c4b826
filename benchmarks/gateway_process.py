"""A gateway of one's own for a benchmark, on a stack of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator

PASSGRID = os.path.join(os.path.dirname(sys.executable), "passgrid")


@contextlib.contextmanager
def own_gateway(*arguments: str) -> Generator[str]:
    """The address of a fresh gateway; it and its stack are gone at the end."""
    with own_stack() as environment, gateway_over(environment, *arguments) as (address, _):
        yield address


@contextlib.contextmanager
def own_stack() -> Generator[dict[str, str]]:
    """The environment for commands with a stack of their own, which is gone at the end."""
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as home:
        environment = {**os.environ, "PASSGRID_HOME": home}
        for name in ("PASSGRID_DATABASE_URL", "PASSGRID_BROKER_URL"):
            environment.pop(name, None)
        try:
            yield environment
        finally:
            subprocess.run([PASSGRID, "down"], env=environment, capture_output=True, check=False, timeout=60)


@contextlib.contextmanager
def gateway_over(environment: dict[str, str], *arguments: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A gateway process and its address."""
    process = subprocess.Popen(
        [PASSGRID, "gateway", "serve", *arguments], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address.startswith("http://"):
            raise SystemExit("the gateway did not start; what it said stands above")
        yield address, process
    finally:
        process.terminate()
        process.wait(30)
