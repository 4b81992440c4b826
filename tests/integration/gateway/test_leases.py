"""A gateway process that answers for a test alone: quick, and as if it asked for every call."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import subprocess
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from api.stack.addresses import Addresses
from passgrid.warehouse.gateway_call_back import PATIENCE_SECONDS
from tests.integration.gateway.gateways import gateway_process
from tests.integration.gateway.wires import HttpWire, call_message

EXHAUSTED = -1
DEAD = -2


@pytest.fixture(scope="module")
def two(bare_stack: Addresses, gateway_database: str) -> Iterator[list[str]]:
    """Two processes of one space that keep the state of two tests."""
    with contextlib.ExitStack() as stack:
        started = [gateway_process(bare_stack, gateway_database, "--cap", "2") for _ in range(2)]
        yield [stack.enter_context(one)[0] for one in started]


@pytest.fixture
def doomed(bare_stack: Addresses, gateway_database: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A third one, to be ill-treated."""
    with gateway_process(bare_stack, gateway_database, "--cap", "2") as started:
        yield started


@pytest.fixture
def database(gateway_database: str) -> Iterator[sa.Connection]:
    """To look behind."""
    engine = sa.create_engine(gateway_database, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
async def client() -> AsyncGenerator[httpx2.AsyncClient]:
    """With a connection for everybody."""
    async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=64)) as client:
        yield client


class Fakes:
    """Entries of one test that answer with their numbers, each once."""

    def __init__(self, client: httpx2.AsyncClient, test: str, entries: int) -> None:
        self.client = client
        self.test = test
        self.entries = entries
        self.session = ""

    async def load(self, url: str) -> None:
        """Have nothing else loaded, and a session."""
        await self.client.post(f"{url}/__aimock/reset")
        calls = [{"id": f"n{n}", "anyArgs": True, "result": str(n)} for n in range(self.entries)]
        block = {"scope": {"testId": self.test}, "tools": [{"name": "next", "calls": calls}]}
        answer = await self.client.post(f"{url}/__aimock/fixtures", json={"mcpFakes": block})
        assert answer.json()["mcpFakesAdded"] == 1
        self.session = await HttpWire("", url, "2025-11-25", None, self.client).session()  # pyright: ignore[reportArgumentType]

    async def ask(self, url: str, tool: str = "next", test: str | None = None) -> int:
        """The number that answers."""
        headers = {"x-test-id": test or self.test, "mcp-session-id": self.session}
        try:
            answer = await self.client.post(f"{url}/mcp", json=call_message(tool), headers=headers)
        except httpx2.TransportError:
            return DEAD
        assert answer.status_code == 200, answer.text
        body = answer.json()
        if "result" in body:
            return int(body["result"]["content"][0]["text"])
        assert body["error"]["code"] == -31010, body
        return EXHAUSTED

    async def asks(self, url: str, times: int) -> list[int]:
        """The same, one after the other."""
        return [await self.ask(url) for _ in range(times)]

    async def asks_until_leased(self, url: str, database: sa.Connection) -> list[int]:
        """The same, until the process answers on its own: it takes a moment to connect."""
        answers: list[int] = []
        while not under_lease(database, self.test):
            answers.append(await self.ask(url))
        return answers

    async def report(self, url: str) -> dict[str, Any]:
        """What the report of the test says."""
        return (await self.client.get(f"{url}/__aimock/report", params={"testId": self.test})).json()

    async def served(self, url: str) -> Counter[int]:
        """Entries that answered, by the journal."""
        rows = (await self.client.get(f"{url}/__aimock/journal", params={"testId": self.test, "last": "100000"})).json()
        ids = [row["response"]["mcpFake"]["id"] for row in rows if "mcpFake" in row["response"]]
        return Counter(int(one.rpartition(":n")[2]) for one in ids if one is not None)


def under_lease(database: sa.Connection, test: str) -> int:
    """Rows of a test that were written under a lease."""
    query = sa.text(
        "SELECT count(j.lease_row) FROM gateway_journal j JOIN gateway_tests t ON t.id = j.test "
        "WHERE t.test_id = :test AND j.id > t.since"
    )
    return database.execute(query, {"test": test}).scalar_one()


def holders(database: sa.Connection) -> list[int]:
    """Connections that hold leases of tests."""
    query = (
        "SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 7001 AND mode = 'ExclusiveLock'"
    )
    return list(database.exec_driver_sql(query).scalars())


async def test_a_test_whose_calls_come_to_one_process_is_answered_there_in_order(
    two: list[str], client: httpx2.AsyncClient, database: sa.Connection
) -> None:
    fakes = Fakes(client, "alone", 300)
    await fakes.load(two[0])
    answered = await fakes.asks_until_leased(two[0], database)
    answered += await fakes.asks(two[0], 300 - len(answered) + 2)
    assert answered == [*range(300), EXHAUSTED, EXHAUSTED]
    assert under_lease(database, "alone") > 50


@pytest.mark.parametrize("reader", [0, 1])
async def test_what_was_answered_stands_in_journal_and_report_at_once(
    two: list[str], client: httpx2.AsyncClient, reader: int
) -> None:
    fakes = Fakes(client, f"read by {reader}", 200)
    await fakes.load(two[0])
    for answered in range(20, 200, 20):
        await fakes.asks(two[0], 20)
        assert sum((await fakes.served(two[reader])).values()) == answered
        report = await fakes.report(two[reader])
        assert (len(report["served"]), len(report["unconsumed"])) == (answered, 200 - answered)


async def test_a_lease_passes_on_to_whoever_is_asked(two: list[str], client: httpx2.AsyncClient) -> None:
    fakes = Fakes(client, "passed on", 60)
    await fakes.load(two[0])
    for n in range(6):
        assert await fakes.asks(two[n % 2], 10) == list(range(10 * n, 10 * n + 10))


async def test_clients_that_wander_between_processes_get_every_entry_once(
    two: list[str], client: httpx2.AsyncClient
) -> None:
    rng = random.Random(7)
    fakes = Fakes(client, "wandering", 300)
    await fakes.load(two[0])

    async def wander() -> list[int]:
        answers: list[int] = []
        at = rng.randrange(2)
        while not answers or answers[-1] != EXHAUSTED:
            at = rng.randrange(2) if rng.random() < 0.1 else at
            answers.append(await fakes.ask(two[at]))
        return answers[:-1]

    lists = await asyncio.gather(*(wander() for _ in range(4)))
    assert all(one == sorted(one) for one in lists)
    assert sorted(number for one in lists for number in one) == list(range(300))


async def test_a_reset_by_another_process_begins_anew(two: list[str], client: httpx2.AsyncClient) -> None:
    fakes = Fakes(client, "begun anew", 20)
    for url in (two[0], two[1], two[0]):
        await fakes.load(url)
        assert await fakes.asks(two[0], 10) == list(range(10))


async def test_a_test_that_ends_begins_anew(two: list[str], client: httpx2.AsyncClient) -> None:
    fakes = Fakes(client, "ended", 20)
    await fakes.load(two[0])
    for ending in two:
        assert await fakes.asks(two[0], 10) == list(range(10))
        await client.delete(f"{ending}/__aimock/test", params={"testId": "ended"})


async def test_a_session_that_another_process_ended_gets_no_answer(two: list[str], client: httpx2.AsyncClient) -> None:
    fakes = Fakes(client, "hung up", 50)
    await fakes.load(two[0])
    for _ in range(5):
        await fakes.asks(two[0], 8)
        session = {"mcp-session-id": fakes.session}
        assert (await client.delete(f"{two[1]}/mcp", headers=session)).status_code == 204
        gone = await client.post(
            f"{two[0]}/mcp", json=call_message("next"), headers={**session, "x-test-id": "hung up"}
        )
        assert gone.status_code == 404
        fakes.session = await HttpWire("", two[0], "2025-11-25", None, client).session()  # pyright: ignore[reportArgumentType]


async def test_the_cap_drives_out_a_test_under_lease(two: list[str], client: httpx2.AsyncClient) -> None:
    fakes = Fakes(client, "first", 20)
    await fakes.load(two[0])
    block = {"scope": "shared", "tools": [{"name": "any", "calls": [{"anyArgs": True, "result": "5", "times": 9}]}]}
    await client.post(f"{two[0]}/__aimock/fixtures", json={"mcpFakes": block})
    await fakes.asks(two[0], 10)
    assert await fakes.ask(two[1], "any", "second") == 5
    assert await fakes.ask(two[1], "any", "third") == 5
    headers = {"x-test-id": "first", "mcp-session-id": fakes.session}
    answer = await client.post(f"{two[0]}/mcp", json=call_message("next"), headers=headers)
    assert answer.json()["error"]["data"]["aimock"]["code"] == "MCP_FAKE_EVICTED"


async def test_a_killed_process_leaves_every_answer_in_the_journal(
    two: list[str],
    doomed: tuple[str, subprocess.Popen[str]],
    client: httpx2.AsyncClient,
    database: sa.Connection,
) -> None:
    url, process = doomed
    fakes = Fakes(client, "killed", 1_500)
    await fakes.load(two[0])
    answered: list[int] = []

    async def go_on() -> None:
        while (number := await fakes.ask(url)) >= 0:
            answered.append(number)
            if len(answered) == 400:
                assert under_lease(database, "killed") > 50
                process.send_signal(signal.SIGKILL)

    await asyncio.gather(*(go_on() for _ in range(16)))
    assert len(answered) >= 400
    assert len(set(answered)) == len(answered)
    journal = await fakes.served(two[0])
    assert not set(answered) - journal.keys()
    assert set(journal.values()) == {1}
    following = await fakes.asks(two[1], 20)
    assert following == list(range(len(journal), len(journal) + 20))


async def test_when_postgres_cuts_a_process_off_no_entry_answers_twice_and_none_is_lost(
    two: list[str], client: httpx2.AsyncClient, database: sa.Connection
) -> None:
    fakes = Fakes(client, "cut off", 1_500)
    await fakes.load(two[0])
    answered: list[int] = []

    async def go_on() -> None:
        while len(answered) < 600:
            # The other one is asked at once: it has to see every claim of the one that was cut off.
            answered.append(await fakes.ask(two[1] if len(answered) % 150 == 1 else two[0]))
            if len(answered) % 150 == 0:
                for pid in holders(database):
                    database.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})

    await asyncio.gather(*(go_on() for _ in range(8)))
    assert sorted(answered) == list(range(len(answered)))
    assert await fakes.served(two[1]) == Counter(answered)


async def test_what_postgres_refuses_to_write_under_a_lease_is_asked_for_without_one(
    two: list[str], client: httpx2.AsyncClient, database: sa.Connection
) -> None:
    fakes = Fakes(client, "refused", 1_000)
    await fakes.load(two[0])
    answered = await fakes.asks_until_leased(two[0], database)
    database.exec_driver_sql("ALTER TABLE gateway_journal ADD CONSTRAINT no_lease CHECK (lease_row IS NULL) NOT VALID")
    answered += await fakes.asks(two[0], 10)
    database.exec_driver_sql("ALTER TABLE gateway_journal DROP CONSTRAINT no_lease")
    assert answered == list(range(len(answered)))
    assert await fakes.served(two[1]) == Counter(answered)


async def test_a_process_that_stands_still_loses_its_lease_and_claims_nothing_twice(
    two: list[str],
    doomed: tuple[str, subprocess.Popen[str]],
    client: httpx2.AsyncClient,
    database: sa.Connection,
) -> None:
    url, process = doomed
    fakes = Fakes(client, "standing still", 3_000)
    await fakes.load(two[0])
    answered = await fakes.asks_until_leased(url, database)

    async def go_on(at: str, most: int) -> None:
        while len(answered) < most:
            answered.append(await fakes.ask(at))

    beside = [asyncio.create_task(go_on(url, 400)) for _ in range(8)]
    await asyncio.sleep(0.1)
    process.send_signal(signal.SIGSTOP)
    answered += await fakes.asks(two[0], 10)
    process.send_signal(signal.SIGCONT)
    await asyncio.gather(*beside, go_on(two[1], 450))
    assert sorted(answered) == list(range(len(answered)))
    assert await fakes.served(two[1]) == Counter(answered)


async def test_nothing_that_is_read_or_reset_waits_long_for_a_process_that_stands_still(
    two: list[str],
    doomed: tuple[str, subprocess.Popen[str]],
    client: httpx2.AsyncClient,
    database: sa.Connection,
) -> None:
    url, process = doomed
    for method, path in (("DELETE", "/test?testId=to end"), ("POST", "/reset")):
        fakes = Fakes(client, path.rpartition("=")[2], 3_000)
        await fakes.load(two[0])
        answered = await fakes.asks_until_leased(url, database)
        process.send_signal(signal.SIGSTOP)
        assert await fakes.served(two[0]) == Counter(answered)
        assert len((await fakes.report(two[0]))["served"]) == len(answered)
        async with asyncio.timeout(10):
            done = await client.request(method, f"{two[0]}/__aimock{path}")
        assert done.status_code == 200, done.text
        process.send_signal(signal.SIGCONT)
    await fakes.load(two[0])
    assert await fakes.asks(url, 5) == list(range(5))


async def test_many_busy_leases_are_given_back_without_anybody_being_cut_off(
    bare_stack: Addresses, gateway_database: str, client: httpx2.AsyncClient, database: sa.Connection
) -> None:
    with gateway_process(bare_stack, gateway_database, "--cap", "0", "--space", "busy") as (url, _):
        call = {"anyArgs": True, "result": "1", "times": 100_000}
        block = {"scope": "shared", "tools": [{"name": "next", "calls": [call]}]}
        await client.post(f"{url}/__aimock/fixtures", json={"mcpFakes": block})
        session = await HttpWire("", url, "2025-11-25", None, client).session()  # pyright: ignore[reportArgumentType]
        stop = False

        async def go_on(test: str) -> None:
            while not stop:
                headers = {"x-test-id": test, "mcp-session-id": session}
                answer = await client.post(f"{url}/mcp", json=call_message("next"), headers=headers)
                assert "result" in answer.json()

        busy = [asyncio.create_task(go_on(f"busy {n}")) for n in range(50)]
        await asyncio.sleep(1.5)
        before = holders(database)
        assert before
        for _ in range(3):
            async with asyncio.timeout(PATIENCE_SECONDS):
                other = block | {"mount": "/other", "tools": [{"name": "other", "calls": [call]}]}
                answer = await client.post(f"{url}/__aimock/fixtures", json={"mcpFakes": other})
            assert answer.status_code == 200
        await asyncio.sleep(1.5)
        stop = True
        await asyncio.gather(*busy)
        assert holders(database) == before
