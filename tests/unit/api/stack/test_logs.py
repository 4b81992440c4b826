from pathlib import Path

import pytest

from api.stack import logs
from api.stack.logs import last_lines, open_log


def test_a_log_is_continued_until_it_is_too_long_and_then_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "ROTATE_AT", 10)
    path = tmp_path / "x.log"
    for text in (b"first\n", b"second\n", b"third\n"):
        with open_log(path) as log:
            log.write(text)
    assert path.read_bytes() == b"third\n"
    assert (tmp_path / "x.log.1").read_bytes() == b"first\nsecond\n"


def test_the_last_lines_survive_whatever_a_program_writes(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"x" * 10_000 + b"\nbad \xff byte\nend\n")
    assert last_lines(path, 2) == "bad � byte\nend"


def test_no_log_is_said_to_be_none(tmp_path: Path) -> None:
    assert "does not exist" in last_lines(tmp_path / "x.log")
    (tmp_path / "x.log").touch()
    assert "is empty" in last_lines(tmp_path / "x.log")
