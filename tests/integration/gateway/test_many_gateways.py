"""Several gateway processes are one gateway: claims, sessions, loads and the journal are shared, also when one dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
import sqlalchemy as sa

from api.gateway.fake_files import FakeFiles
from api.stack.addresses import Addresses
from passgrid.warehouse.engine import make_engine
from tests.integration.gateway.gateways import gateway_process
from tests.integration.gateway.wires import HttpWire, Who, call_message

CLIENTS = 64
ENTRIES = 24
PROCESSES = 4
ROUNDS = 4

Forget: TypeAlias = Callable[[str, str], Coroutine[Any, Any, None]]
"""Has the gateway at an address forget what a test used up; afterwards the same is loaded, under the same ids."""


@pytest.fixture(scope="module")
def gateways(bare_stack: Addresses, gateway_database: str) -> Iterator[list[tuple[str, Any]]]:
    """Four of them, in one space."""
    with contextlib.ExitStack() as stack:
        started = [gateway_process(bare_stack, gateway_database, "--cap", "0") for _ in range(PROCESSES)]
        yield [stack.enter_context(one) for one in started]


@pytest.fixture
async def many() -> AsyncGenerator[httpx2.AsyncClient]:
    """A client with a connection for everybody."""
    limits = httpx2.Limits(max_connections=CLIENTS * PROCESSES)
    async with httpx2.AsyncClient(timeout=60, limits=limits) as client:
        yield client


def ordered(test_id: str) -> dict[str, Any]:
    calls = [{"id": f"n{n}", "anyArgs": True, "result": str(n)} for n in range(ENTRIES)]
    return {"scope": {"testId": test_id}, "undeclaredTools": "deny", "tools": [{"name": "next", "calls": calls}]}


async def begin_anew(client: httpx2.AsyncClient, url: str, tests: list[str]) -> None:
    await client.post(f"{url}/__aimock/reset")
    answer = await client.post(f"{url}/__aimock/fixtures", json={"mcpFakes": [ordered(test) for test in tests]})
    assert answer.json()["mcpFakesAdded"] == len(tests)


async def session_of(client: httpx2.AsyncClient, url: str) -> str:
    return await HttpWire("", url, "2025-11-25", None, client).session()  # pyright: ignore[reportArgumentType]


async def ask(client: httpx2.AsyncClient, url: str, test: str, session: str) -> int | None:
    """The number that answered; None where the process is dead."""
    try:
        body = await said(client, url, test, session)
    except httpx2.TransportError:
        return None
    return number(body)


async def said(client: httpx2.AsyncClient, url: str, test: str, session: str) -> Any:
    headers = {"x-test-id": test, "mcp-session-id": session}
    answer = await client.post(f"{url}/mcp", json=call_message("next"), headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def number(body: Any) -> int:
    if "result" in body:
        return int(body["result"]["content"][0]["text"])
    assert body["error"]["code"] == -31010, body
    return -1


async def test_every_claim_is_answered_once_and_in_order(
    gateways: list[tuple[str, Any]], many: httpx2.AsyncClient
) -> None:
    urls = [url for url, _ in gateways]
    tests = [f"client {n}" for n in range(CLIENTS)]
    await begin_anew(many, urls[0], tests)

    async def one(test: str) -> list[int | None]:
        rng = random.Random(test)
        session = await session_of(many, rng.choice(urls))
        return [await ask(many, rng.choice(urls), test, session) for _ in range(ENTRIES + 1)]

    for answers in await asyncio.gather(*(one(test) for test in tests)):
        assert answers == [*range(ENTRIES), -1]
    for test in tests[:3]:
        report = (await many.get(f"{urls[1]}/__aimock/report", params={"testId": test})).json()
        assert (len(report["served"]), report["unconsumed"]) == (ENTRIES, [])
        assert [one["outcome"] for one in report["failures"]] == ["exhausted"]


async def test_parallel_calls_of_one_test_never_share_an_entry(
    gateways: list[tuple[str, Any]], many: httpx2.AsyncClient
) -> None:
    urls = [url for url, _ in gateways]
    await begin_anew(many, urls[0], ["parallel"])
    session = await session_of(many, urls[0])
    asked = [ask(many, urls[n % PROCESSES], "parallel", session) for n in range(ENTRIES * 2)]
    answers = await asyncio.gather(*asked)
    assert sorted(answers, key=lambda one: -2 if one is None else one) == [-1] * ENTRIES + list(range(ENTRIES))


async def test_what_is_loaded_or_ended_by_one_process_holds_for_all_at_once(
    gateways: list[tuple[str, Any]], many: httpx2.AsyncClient
) -> None:
    urls = [url for url, _ in gateways]
    for round_ in range(10):
        await begin_anew(many, urls[round_ % PROCESSES], ["all"])
        wire = HttpWire("", urls[(round_ + 1) % PROCESSES], "2025-11-25", None, many)  # pyright: ignore[reportArgumentType]
        answer = await wire.call("next", who=Who("all"))
        assert answer["result"]["content"][0]["text"] == "0"
        session = await wire.session()
        for url in urls:
            assert await ask(many, url, "all", session) is not None
        ended = await many.delete(f"{urls[0]}/mcp", headers={"mcp-session-id": session})
        assert ended.status_code == 204
        for url in urls:
            headers = {"mcp-session-id": session, "x-test-id": "all"}
            gone = await many.post(f"{url}/mcp", json=call_message("next"), headers=headers)
            assert gone.status_code == 404, (round_, url)


async def test_when_one_is_killed_the_others_go_on_and_no_entry_answers_twice(
    bare_stack: Addresses, gateway_database: str, gateways: list[tuple[str, Any]], many: httpx2.AsyncClient
) -> None:
    with gateway_process(bare_stack, gateway_database, "--cap", "0") as (doomed, process):
        urls = [doomed, *(url for url, _ in gateways[1:])]
        tests = [f"survivor {n}" for n in range(CLIENTS)]
        await begin_anew(many, urls[1], tests)
        under_way = answered = 0

        async def one(test: str) -> list[int]:
            nonlocal under_way, answered
            rng, alive = random.Random(test), list(urls)
            session = await session_of(many, urls[1])
            answers: list[int] = []
            while not answers or answers[-1] != -1:
                if (answer := await ask(many, rng.choice(alive), test, session)) is None:
                    alive, under_way = urls[1:], under_way + 1
                else:
                    answers.append(answer)
                    answered += 1
                    if answered == CLIENTS * ENTRIES // 2:
                        process.kill()
            return answers

        lists = await asyncio.gather(*(one(test) for test in tests))
        assert process.wait() != 0
    for answers in lists:
        numbers = answers[:-1]
        assert numbers == sorted(set(numbers))
    lost = CLIENTS * ENTRIES - sum(len(answers) - 1 for answers in lists)
    # Claimed, and the answer died with its process: never more than were under way there.
    assert 0 <= lost <= under_way
    assert under_way > 0


@pytest.fixture
def engine(gateway_database: str) -> Iterator[sa.Engine]:
    """On the gateways' database."""
    made = make_engine(gateway_database, pool_size=2)
    yield made
    made.dispose()


@pytest.fixture(params=["everything", "one test"])
def forget(request: pytest.FixtureRequest, many: httpx2.AsyncClient, engine: sa.Engine, tmp_path: Path) -> Forget:
    """A reset of everything, with the same file loaded again; or of one test."""
    files = FakeFiles(engine, "default", [tmp_path])

    async def everything(url: str, test: str) -> None:
        (tmp_path / "fakes.json").write_text(json.dumps({"mcpFakes": ordered(test)}))
        assert (await many.post(f"{url}/__aimock/reset")).status_code == 200
        await asyncio.to_thread(files.load)

    async def one_test(url: str, test: str) -> None:
        assert (await many.delete(f"{url}/__aimock/test", params={"testId": test})).json() == {"ended": test}

    return everything if request.param == "everything" else one_test


async def load_file(many: httpx2.AsyncClient, url: str, engine: sa.Engine, folder: Path, test: str) -> None:
    """Have nothing loaded but this test's file."""
    (folder / "fakes.json").write_text(json.dumps({"mcpFakes": ordered(test)}))
    await many.post(f"{url}/__aimock/reset")
    await asyncio.to_thread(FakeFiles(engine, "default", [folder]).load)


async def served_since_reset(client: httpx2.AsyncClient, url: str, test: str) -> list[str]:
    report = (await client.get(f"{url}/__aimock/report", params={"testId": test})).json()
    assert report["unconsumed"] == []
    return sorted(one["id"] for one in report["served"])


@pytest.mark.parametrize("answered_before", [0, 3])
async def test_a_claim_that_a_reset_overtakes_uses_up_nothing_after_it(
    gateways: list[tuple[str, Any]],
    many: httpx2.AsyncClient,
    engine: sa.Engine,
    tmp_path: Path,
    forget: Forget,
    answered_before: int,
) -> None:
    test = f"overtaken {answered_before}"
    asking, resetting, reading = (url for url, _ in gateways[:3])
    session = await session_of(many, asking)
    await load_file(many, asking, engine, tmp_path, test)
    assert await ask(many, asking, test, session) == 0
    await load_file(many, asking, engine, tmp_path, test)
    for n in range(answered_before):
        assert await ask(many, asking, test, session) == n
    with nothing_written(engine) as somebody_waits:
        claim = asyncio.create_task(ask(many, asking, test, session))
        await somebody_waits()
        reset = asyncio.create_task(forget(resetting, test))
        await asyncio.wait([reset], timeout=0.5)  # it may wait for the claim, or pass it by
    assert await claim == answered_before
    await reset
    assert [await ask(many, reading, test, session) for _ in range(ENTRIES + 1)] == [*range(ENTRIES), -1]
    assert await served_since_reset(many, asking, test) == sorted(f"fakes.json:n{n}" for n in range(ENTRIES))


@contextlib.contextmanager
def nothing_written(engine: sa.Engine) -> Generator[Callable[[], Awaitable[None]]]:
    """Whoever is to write into the journal waits; gives what returns when somebody does."""
    waiting = sa.text("SELECT count(*) FROM pg_locks WHERE relation = 'gateway_journal'::regclass AND NOT granted")

    async def somebody_waits() -> None:
        for _ in range(300):
            with engine.connect() as connection:
                if connection.execute(waiting).scalar_one():
                    return
            await asyncio.sleep(0.02)
        raise AssertionError("nobody came to write")

    with engine.begin() as holding:
        holding.execute(sa.text("LOCK TABLE gateway_journal IN EXCLUSIVE MODE"))
        yield somebody_waits


async def test_after_a_reset_amid_many_calls_every_entry_answers_exactly_once(
    gateways: list[tuple[str, Any]], many: httpx2.AsyncClient, engine: sa.Engine, tmp_path: Path, forget: Forget
) -> None:
    urls = [url for url, _ in gateways]
    test = "amid"
    session = await session_of(many, urls[0])
    for round_ in range(ROUNDS):
        await load_file(many, urls[0], engine, tmp_path, test)
        before = await answered_ever(many, urls[0], test)
        calls = CallsWithAReset(urls, many, test, session, forget)
        await asyncio.gather(*(calls.until_used_up(random.Random(f"{round_} {n}")) for n in range(CLIENTS // 4)))
        assert set(calls.answers) == set(range(ENTRIES))
        assert max(calls.answers.values()) <= 2
        assert await answered_ever(many, urls[1], test) - before == sum(calls.answers.values())
        assert await served_since_reset(many, urls[2], test) == sorted(f"fakes.json:n{n}" for n in range(ENTRIES))


class CallsWithAReset:
    """Calls of one test by many clients; somewhere amid them comes a reset."""

    def __init__(self, urls: list[str], client: httpx2.AsyncClient, test: str, session: str, forget: Forget) -> None:
        self.answers: Counter[int] = Counter()
        self._urls, self._client, self._test, self._session, self._forget = urls, client, test, session, forget
        self._asked = 0
        self._reset: asyncio.Task[None] | None = None

    async def until_used_up(self, rng: random.Random) -> None:
        """One client: asks until nothing is left that there is after the reset."""
        anew, answer = False, 0
        while not (anew and answer == -1):
            anew = self._reset is not None and self._reset.done()
            body = await said(self._client, rng.choice(self._urls), self._test, self._session)
            nothing_loaded = "Unknown tool" in json.dumps(body)
            assert not (anew and nothing_loaded)
            answer = -1 if nothing_loaded else number(body)
            self._count(answer, rng.choice(self._urls))
        assert self._reset is not None
        await self._reset

    def _count(self, answer: int, url: str) -> None:
        self._asked += 1
        if answer >= 0:
            self.answers[answer] += 1
        if self._asked == ENTRIES // 2:
            self._reset = asyncio.create_task(self._forget(url, self._test))


async def answered_ever(client: httpx2.AsyncClient, url: str, test: str) -> int:
    rows = (await client.get(f"{url}/__aimock/journal", params={"testId": test})).json()
    return sum(row["response"].get("mcpFake", {}).get("outcome") == "answered" for row in rows)


async def test_model_turns_loaded_by_one_process_answer_at_every_one_until_they_are_unloaded(
    gateways: list[tuple[str, Any]], many: httpx2.AsyncClient
) -> None:
    urls = [url for url, _ in gateways]
    await many.post(f"{urls[0]}/__aimock/reset")
    for round_ in range(3):
        turn = {"match": {"userMessage": "Where"}, "response": {"content": f"on shelf {round_}"}}
        loaded = await many.post(f"{urls[round_]}/__aimock/fixtures", json={"fixtures": [turn]})
        assert loaded.json() == {"added": 1, "mcpFakesAdded": 0, "warnings": []}
        for url in urls:
            chat, message = await model_answers(many, url)
            assert chat.json()["choices"][0]["message"]["content"] == f"on shelf {round_}"
            assert message.json()["content"][0]["text"] == f"on shelf {round_}"
        assert (await many.delete(f"{urls[round_ + 1]}/__aimock/fixtures")).status_code == 200
        for url in urls:
            chat, message = await model_answers(many, url)
            assert (chat.status_code, message.status_code) == (400, 400)
            assert chat.json()["error"]["code"] == "replay_miss"
            assert message.json()["type"] == "error"
            for refused in (chat, message):
                assert "serves no model" in refused.json()["error"]["message"]


async def model_answers(client: httpx2.AsyncClient, url: str) -> list[httpx2.Response]:
    """What two of the model APIs say."""
    asked = {"model": "any", "max_tokens": 100, "messages": [{"role": "user", "content": "Where is it?"}]}
    paths = ("/v1/chat/completions", "/v1/messages")
    return [await client.post(f"{url}{path}", json=asked) for path in paths]
