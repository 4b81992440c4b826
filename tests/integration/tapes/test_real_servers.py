"""Sessions with real servers are recorded, and replayed when the server is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from passgrid.sealing import sealed
from passgrid.tapes.format import read_tape
from passgrid.tapes.replayer import Replay
from tests.conftest import skip_or_fail
from tests.integration.tapes.real_sessions import SESSIONS, RealSession, ServerMissing


@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.name)
async def test_a_session_is_replayed_identically_without_its_server(session: RealSession, tmp_path: Path) -> None:
    folder, file = tmp_path / "work", tmp_path / "session.tape.jsonl"
    folder.mkdir()
    try:
        first, era = await session.recorded(folder, file)
    except ServerMissing as missing:
        skip_or_fail(str(missing))
        return
    shutil.rmtree(folder)
    again = session.seen(folder)
    replay = Replay(read_tape(file.read_bytes()))
    with sealed():
        async with again.client(replay, session.mode) as client:
            await session.use(client, again, folder)
    assert again == first
    assert replay.misses == []
    assert len(first.results) >= 10
    assert era is not None
    assert era.name == session.era
