"""Many statements under way over one connection, and what happens when it ends."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from passgrid.warehouse.pipelined import AskedInVainOfPostgres, Pipelined, text_array
from tests.integration.conftest import psycopg_url

STATEMENTS = {
    b"echo": b"SELECT $1::text",
    b"slow": b"SELECT pg_sleep(0.2), $1::text",
    b"wrong": b"SELECT 1 / $1::integer",
    b"array": b"SELECT unnest($1::text[])",
}
END = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE application_name = 'passgrid gateway' AND datname = :db"
)


def end_backends(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text(END), {"db": engine.url.database})


@pytest.fixture
def line(database_url: str) -> Pipelined:
    return Pipelined(psycopg_url(database_url), STATEMENTS)


async def test_answers_come_to_who_asked_also_beside_failures(line: Pipelined) -> None:
    async def echo(n: int) -> str | None:
        return (await line.ask(b"echo", [str(n).encode()]))[0][0]

    wrong = [asyncio.create_task(line.ask(b"wrong", [b"0"])) for _ in range(5)]
    assert await asyncio.gather(*(echo(n) for n in range(500))) == [str(n) for n in range(500)]
    for task in wrong:
        with pytest.raises(AskedInVainOfPostgres, match="division by zero"):
            await task
    line.close()


async def test_who_gives_up_waiting_confuses_nobody(line: Pipelined) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(line.ask(b"slow", [b"x"]), 0.05)
    assert await line.ask(b"echo", [b"y"]) == [["y"]]
    line.close()


async def test_odd_texts_arrive_as_they_are(line: Pipelined) -> None:
    odd = ['a"b', "c\\d", "{e,f}", "", "NULL", "é\n"]
    assert [row[0] for row in await line.ask(b"array", [text_array(odd)])] == odd
    line.close()


async def test_a_backend_that_is_ended_fails_who_waits_and_the_next_one_is_answered(
    line: Pipelined, engine: sa.Engine
) -> None:
    for _ in range(3):
        waiting = [asyncio.create_task(line.ask(b"slow", [b"x"])) for _ in range(8)]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(end_backends, engine)
        for task in waiting:
            with pytest.raises(AskedInVainOfPostgres):
                await asyncio.wait_for(task, 5)
        assert await asyncio.wait_for(line.ask(b"echo", [b"again"]), 5) == [["again"]]
    line.close()


async def test_an_idle_connection_that_was_ended_is_no_obstacle(line: Pipelined, engine: sa.Engine) -> None:
    for _ in range(3):
        await line.ask(b"echo", [b"x"])
        await asyncio.to_thread(end_backends, engine)
        await asyncio.sleep(0.1)
        assert await asyncio.wait_for(line.ask(b"echo", [b"again"]), 5) == [["again"]]
    line.close()
