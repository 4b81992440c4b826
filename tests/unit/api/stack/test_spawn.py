import os
import signal
import sys
from pathlib import Path

import pytest

from api.stack.python_command import python_environment, python_module
from api.stack.spawn import has_exited, start_process

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@only_linux
def test_a_child_neither_ignores_nor_blocks_signals_whatever_we_do(tmp_path: Path) -> None:
    log, before = tmp_path / "x.log", signal.signal(signal.SIGINT, signal.SIG_IGN)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        start_process(["grep", "-E", "SigBlk|SigIgn", "/proc/self/status"], log=log, death_signal=signal.SIGKILL).wait()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
    masks = {line.split()[0]: int(line.split()[1], 16) for line in log.read_text().splitlines()}
    assert masks["SigBlk:"] == 0
    assert not masks["SigIgn:"] & (1 << (signal.SIGINT - 1))


def test_it_leads_a_group_of_its_own_out_of_reach_of_ctrl_c(tmp_path: Path) -> None:
    child = start_process(["sleep", "100"], log=tmp_path / "x.log", death_signal=signal.SIGKILL)
    try:
        assert os.getpgid(child.pid) == child.pid
        assert not has_exited(child)
    finally:
        child.kill()
        child.wait()
    assert has_exited(child)


def test_both_streams_go_to_the_end_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("before\n")
    command = ["sh", "-c", "echo out; echo err >&2"]
    start_process(command, log=log, death_signal=signal.SIGKILL).wait()
    assert log.read_text() == "before\nout\nerr\n"


def test_a_module_is_run_from_this_source_and_never_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "__init__.py").write_text("raise SystemExit('the wrong api')")
    command = python_module("api.stack.supervisor", "--help")
    log = tmp_path / "x.log"
    child = start_process(
        command, log=log, death_signal=signal.SIGKILL, environment=python_environment(), folder=tmp_path
    )
    assert child.wait() == 0, log.read_text()
