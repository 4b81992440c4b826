"""The API as a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

SECONDS = 20.0


@contextmanager
def served(environment: Mapping[str, str], path: Path) -> Generator[None]:
    """`python -m api.http` with these variables, until the block ends; it listens on a Unix socket."""
    process = subprocess.Popen([sys.executable, "-m", "api.http"], env={**os.environ, **environment})
    try:
        _wait_until_it_listens(path, process)
        yield
    finally:
        process.terminate()
        process.wait(SECONDS)


def _wait_until_it_listens(path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(path))
            except OSError:
                time.sleep(0.02)
            else:
                return
    raise AssertionError("the API does not listen")
