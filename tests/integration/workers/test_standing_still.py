"""A process that stands still in the middle of a transaction, paused or on a machine that is gone, holds nobody up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import workers.gate
from passgrid.admission import Answer, Asked, Verdict
from passgrid.gate import ModelCall
from passgrid.warehouse import provider_limits
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.intents import Settled, exchange
from tests.integration.runs import claimed, submitted, value
from workers.gate import GateKeeper
from workers.watchdog import LoopWatch

CALL = ModelCall("openai:m", "openai:a", 100, 0.02)
IDLE_SECONDS = 1.0


async def test_a_gate_that_stands_still_gives_its_locks_up_and_asks_again(
    engine: sa.Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(engine, tmp_path, k=2)
    slow, quick = [Asked(one.key, one.fence, one.run_id, 0, CALL) for one in claimed(engine)]
    waited: list[float] = []

    def stand_still(connection: sa.Connection, settled: Sequence[Settled], asked: Sequence[Asked]) -> list[Verdict]:
        if not waited:
            provider_limits.lock(connection, ["openai:a"])
            begun = time.monotonic()
            with engine.connect() as other:
                (verdict,) = exchange(other, [], [quick])
            assert verdict.answer is Answer.GRANTED
            waited.append(time.monotonic() - begun)
        return exchange(connection, settled, asked)

    monkeypatch.setattr(workers.gate, "exchange", stand_still)
    monkeypatch.setattr(workers.gate, "AWAY_SECONDS", 0.1)
    limited = make_engine(database_url, idle_s=IDLE_SECONDS)
    await GateKeeper(limited).ask(slow)
    assert waited[0] >= IDLE_SECONDS / 2, "it did have to wait for the one that stood still"
    assert value(engine, "SELECT count(*) FROM intents") == 2
    limited.dispose()


def test_an_event_loop_is_not_blamed_for_a_pause_of_its_whole_process(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    blamed: list[float] = []
    beats: list[Any] = []
    watch = LoopWatch(beats.append, 10.0, blamed.append)
    for tick in [0.25, 30.0, *[0.25] * 36]:
        now += tick
        watch.look()
    assert blamed == [], "thirty seconds of pause, and less than ten of silence"
    for _ in range(4):
        now += 0.25
        watch.look()
    assert len(blamed) == 1, "a loop that does not turn is noticed all the same"
