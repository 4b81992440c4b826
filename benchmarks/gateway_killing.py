"""What a gateway that is killed under load leaves in the journal."""

from __future__ import annotations

import asyncio

import httpx2
import uvloop

from benchmarks.gateway_asking import Connection, call_of
from benchmarks.gateway_process import gateway_over, own_stack

CONNECTIONS = 16


def kill_under_load(fakes: str, tool: str, seconds: float) -> dict[str, int]:
    """Calls that a gateway answered until it was killed, and those that the next one finds in the journal."""
    with own_stack() as environment:
        with gateway_over(environment, fakes) as (url, process):

            async def load() -> int:
                asyncio.get_running_loop().call_later(seconds, process.kill)
                return await answered_until_it_is_gone(url, tool)

            answered = uvloop.run(load())
        with gateway_over(environment, fakes) as (url, _):
            report = httpx2.get(f"{url}/__aimock/report", timeout=300).json()
    return {"answered": answered, "in_journal": len(report["served"])}


async def answered_until_it_is_gone(url: str, tool: str) -> int:
    """Results that reached a client over all connections before the first one broke, and after."""
    opened = [Connection(url) for _ in range(CONNECTIONS)]
    for one in opened:
        await one.open()
    body, calls = call_of(tool), 0

    async def ask(connection: Connection) -> None:
        nonlocal calls
        while True:
            try:
                _, answer = await connection.post(body)
            except (OSError, asyncio.IncompleteReadError):
                return
            if b'"ok"' not in answer:
                raise RuntimeError(f"not the result: {answer[:200]!r}")
            calls += 1

    await asyncio.gather(*(ask(one) for one in opened))
    for one in opened:
        one.close()
    return calls
