"""A tape is on the disk while the session goes on, and its failure is not the session's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from passgrid.problems import InvalidInput
from passgrid.tapes.format import read_tape
from passgrid.tapes.frames import Frame
from passgrid.tapes.writer import TapeFailed, TapeWriter

PING = Frame("client", {"jsonrpc": "2.0", "id": 1, "method": "ping"})


def test_what_has_passed_is_in_the_file_before_the_session_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl"
    with TapeWriter(path, {"transport": "test"}) as writer:
        writer.add(PING)
        tape = read_tape(path.read_bytes())
        assert tape.frames == (PING,)
        assert not tape.complete
    assert read_tape(path.read_bytes()).complete


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.tape.jsonl"
    path.write_text("mine")
    with pytest.raises(InvalidInput, match="is there already"):
        TapeWriter(path, {})
    assert path.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which Linux has")
def test_a_full_disk_is_told_at_the_end_and_disturbs_nothing_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, mode: opened("/dev/full", os.O_WRONLY))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    writer = TapeWriter(tmp_path / "a.tape.jsonl", {})
    writer.add(PING)
    with pytest.raises(TapeFailed, match="stops in the middle: No space left on device"):
        writer.close()
    writer.close()
