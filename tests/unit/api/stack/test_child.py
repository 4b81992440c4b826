import subprocess
import time
from pathlib import Path

from api.stack.child import Child, stop_all
from api.stack.errors import StackError


def _start(*command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(command, process_group=0)


def _eventually(child: Child, restarts: int) -> None:
    deadline = time.monotonic() + 10
    while child.restarts < restarts:
        assert time.monotonic() < deadline
        child.tend()
        time.sleep(0.01)


def test_it_is_started_again_when_it_dies() -> None:
    child = Child("x", lambda: _start("sleep", "100"))
    child.launch().kill()
    _eventually(child, 1)
    assert child.is_running
    assert child.state.pid == (child.process and child.process.pid)
    assert child.state.restarts == 1
    stop_all([child], 5)
    assert child.process is None


def test_each_death_in_a_row_doubles_the_delay() -> None:
    child = Child("x", lambda: _start("true"))
    begun = time.monotonic()
    child.launch()
    _eventually(child, 3)
    assert time.monotonic() - begun > 0.1 + 0.2 + 0.4
    child.finish()


def test_one_that_cannot_be_started_is_tried_again() -> None:
    tries: list[int] = []

    def start() -> "subprocess.Popen[bytes]":
        tries.append(1)
        if len(tries) < 3:
            raise StackError("not now", "later")
        return _start("sleep", "100")

    child = Child("x", start)
    _eventually(child, 1)
    assert len(tries) == 3
    child.finish()


def test_one_that_ignores_the_signal_is_killed_with_its_group(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    child = Child("x", lambda: _start("sh", "-c", f"trap '' TERM; sleep 100 & echo $! > '{ready}'; wait; sleep 100"))
    child.launch()
    while not (ready.exists() and ready.read_text().strip()):
        time.sleep(0.01)
    grandchild = Path("/proc", ready.read_text().strip(), "stat")
    stop_all([child], 0.1)
    deadline = time.monotonic() + 10
    while grandchild.exists() and grandchild.read_text().rpartition(")")[2].split()[0] not in "ZX":
        assert time.monotonic() < deadline
        time.sleep(0.01)
