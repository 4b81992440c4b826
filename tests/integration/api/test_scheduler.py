"""The scheduler: a bounded window of hints, kept up whatever happens to the broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
import redis
import sqlalchemy as sa

from api.scheduler import ATTEMPTS_PER_HINT, WINDOW, Scheduler
from api.stack.addresses import Addresses
from tests.integration.runs import claimed, finish, submitted, value


@pytest.fixture
def broker(bare_stack: Addresses) -> Iterator[Any]:
    client: Any = redis.Redis(unix_socket_path=urlparse(bare_stack.broker_url).path)
    client.flushall()
    yield client
    client.flushall()


@pytest.fixture
def scheduler(database_url: str, bare_stack: Addresses) -> Scheduler:
    return Scheduler(database_url, bare_stack.broker_url)


def test_hints_are_bounded_and_not_repeated(
    engine: sa.Engine, scheduler: Scheduler, broker: Any, tmp_path: Path
) -> None:
    submitted(engine, tmp_path, scenarios=20, k=5)
    for _ in range(5):
        scheduler.tick()
    assert broker.llen("replay") == WINDOW["replay"]


def test_few_attempts_need_few_hints(engine: sa.Engine, scheduler: Scheduler, broker: Any, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=5)
    scheduler.tick()
    assert broker.llen("replay") == -(-5 // ATTEMPTS_PER_HINT["replay"])
    claimed(engine)
    broker.flushall()
    scheduler.tick()
    assert broker.llen("replay") == 0, "nothing waits, so there is nothing to hint at"


def test_an_emptied_broker_is_filled_again(
    engine: sa.Engine, scheduler: Scheduler, broker: Any, tmp_path: Path
) -> None:
    submitted(engine, tmp_path, k=5)
    scheduler.tick()
    before = broker.llen("replay")
    broker.flushall()
    scheduler.tick()
    assert broker.llen("replay") == before > 0


def test_a_run_with_nothing_left_is_done(engine: sa.Engine, scheduler: Scheduler, broker: Any, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    scheduler.tick()
    assert value(engine, "SELECT state FROM runs") == "active"
    finish(engine, claimed(engine))
    scheduler.tick()
    assert value(engine, "SELECT state FROM runs") == "done"


def test_messages_are_json_and_carry_no_attempt(
    engine: sa.Engine, scheduler: Scheduler, broker: Any, tmp_path: Path
) -> None:
    import base64
    import json

    submitted(engine, tmp_path, k=1)
    scheduler.tick()
    (raw,) = broker.lrange("replay", 0, -1)
    message = json.loads(raw)
    assert message["content-type"] == "application/json"
    assert json.loads(base64.b64decode(message["body"]))[:2] == [[], {}]
