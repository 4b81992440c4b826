"""Several gateway processes are one gateway: claims, sessions, loads and the journal are shared, also when one dies."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import httpx2
import pytest

from api.stack.addresses import Addresses
from tests.integration.gateway.gateways import gateway_process
from tests.integration.gateway.wires import HttpWire, Who, call_message

CLIENTS = 64
ENTRIES = 24
PROCESSES = 4


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
    headers = {"x-test-id": test, "mcp-session-id": session}
    try:
        answer = await client.post(f"{url}/mcp", json=call_message("next"), headers=headers)
    except httpx2.TransportError:
        return None
    body = answer.json()
    assert answer.status_code == 200, body
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
