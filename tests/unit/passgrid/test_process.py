import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from passgrid.process import die_with_parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this")

PARENT = """
import os, sys, time
from passgrid.process import die_with_parent
parent = os.getpid()
child = os.fork()
if child == 0:
    die_with_parent(parent=parent)
    print(os.getpid(), flush=True)
    time.sleep(100)
time.sleep(100)
"""


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_child_dies_with_its_parent() -> None:
    root = str(Path(__file__).parents[3])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": root}
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert _is_alive(child)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 10
    while _is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    child = os.fork()
    if child == 0:
        die_with_parent(signal.SIGTERM, parent=1)  # which our parent is not
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 1
