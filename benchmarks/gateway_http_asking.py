"""The HTTP client that the official MCP client is made of, with one connection and one session for each."""

from __future__ import annotations

import asyncio
import contextlib
import time

import httpx2

from benchmarks.gateway_asking import HELLO, call_of

_HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


async def ask_with_httpx(url: str, tool: str, connections: int, seconds: float) -> tuple[int, float]:
    """Calls answered over so many connections, and the seconds they took. Raises where an answer is not the result."""
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(httpx2.AsyncClient(headers=_HEADERS)) for _ in range(connections)]
        for client in clients:
            hello = await client.post(f"{url}/mcp", json=HELLO)
            client.headers["mcp-session-id"] = hello.headers["mcp-session-id"]
            await client.post(f"{url}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        body, calls, stop = call_of(tool), 0, time.perf_counter() + seconds

        async def ask(client: httpx2.AsyncClient) -> None:
            nonlocal calls
            while time.perf_counter() < stop:
                answer = await client.post(f"{url}/mcp", content=body)
                if answer.json()["result"]["content"][0]["text"] != "ok":
                    raise RuntimeError(f"not the result: {answer.text[:200]}")
                calls += 1

        started = time.perf_counter()
        await asyncio.gather(*(ask(client) for client in clients))
        return calls, time.perf_counter() - started
