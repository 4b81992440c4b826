"""Real connections to the server's protocol: who asks is answered, who does not is not waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

import pytest
import uvicorn
from uvicorn.server import ServerState

from api.gateway import patience
from api.gateway.patience import PatientProtocol
from passgrid.wire.asgi import WireApp, WireLimits
from passgrid.wire.http import HttpReply, HttpRequest

SECONDS = 0.6
HEAD = b"POST /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n"
SLOW = "slow"
TOO_LATE = 10.0

Connection: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect: TypeAlias = Callable[[], Awaitable[Connection]]


@pytest.fixture
async def connect(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Connect]:
    """Connects to a server that has little patience."""
    monkeypatch.setattr(patience, "REQUEST_SECONDS", SECONDS)
    async with _served() as port:
        writers: list[asyncio.StreamWriter] = []

        async def connected() -> Connection:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writers.append(writer)
            return reader, writer

        yield connected
        for writer in writers:
            writer.transport.abort()


@asynccontextmanager
async def _served() -> AsyncGenerator[int]:
    app = WireApp(_answer, WireLimits(body_seconds=None, body_bytes=100))
    config = uvicorn.Config(app, log_config=None, ws="none", lifespan="off")  # pyright: ignore[reportArgumentType]
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: PatientProtocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def _answer(request: HttpRequest) -> HttpReply:
    if request.path == f"/{SLOW}":
        await asyncio.sleep(2 * SECONDS)
    return HttpReply(200, request.body)


async def _asked(connection: Connection, path: str = "quick") -> bytes:
    """The answer to a whole request."""
    reader, writer = connection
    writer.write(HEAD % path.encode() + b"hi")
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK"), head
    return await reader.readexactly(2)


async def _closed_after(connection: Connection) -> float:
    """Seconds until the server closes the connection."""
    started = time.monotonic()
    async with asyncio.timeout(TOO_LATE):
        with suppress(ConnectionResetError):
            await connection[0].read()
    return time.monotonic() - started


@pytest.mark.parametrize(
    "begun",
    [b"", b"\r\n", b"POST", b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n", HEAD % b"" + b"h"],
    ids=["nothing", "empty lines", "half a line", "half a head", "half a body"],
)
async def test_who_never_ends_a_request_is_closed_and_others_are_answered_meanwhile(
    connect: Connect, begun: bytes
) -> None:
    held = [await connect() for _ in range(20)]
    for _, writer in held:
        writer.write(begun)
    asking = await connect()
    closed = asyncio.gather(*(_closed_after(one) for one in held))
    while not closed.done():
        assert await _asked(asking) == b"hi"
        await asyncio.sleep(SECONDS / 10)
    assert min(await closed) > SECONDS / 2


async def test_bytes_that_drip_gain_no_time(connect: Connect) -> None:
    slow = await connect()
    closed = asyncio.create_task(_closed_after(slow))
    for byte in HEAD % b"drip" * 100:
        slow[1].write(bytes([byte]))
        await asyncio.sleep(SECONDS / 20)
        if closed.done():
            break
    assert SECONDS / 2 < await closed < SECONDS * 4


async def test_a_kept_connection_has_the_same_time_for_its_next_request(connect: Connect) -> None:
    for begun in (b"POST / HT", b"\r\n"):
        kept = await connect()
        assert await _asked(kept) == b"hi"
        await asyncio.sleep(SECONDS * 1.5)  # nothing is asked, and nothing waited for
        assert await _asked(kept) == b"hi"
        kept[1].write(begun)
        assert SECONDS / 2 < await _closed_after(kept) < SECONDS * 4


async def test_the_time_of_a_request_begins_with_its_first_byte(connect: Connect) -> None:
    reader, writer = await connect()
    await asyncio.sleep(SECONDS * 0.7)
    writer.write((HEAD % b"late")[:-1])
    await asyncio.sleep(SECONDS * 0.7)
    writer.write(b"\nhi")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")


async def test_an_answer_may_take_longer_than_its_request(connect: Connect) -> None:
    assert await _asked(await connect(), SLOW) == b"hi"


async def test_who_was_refused_before_the_end_of_a_body_is_closed_too(connect: Connect) -> None:
    reader, writer = await connect()
    writer.write(HEAD.replace(b"Length: 2", b"Length: 500") % b"large")
    for _ in range(2):
        await asyncio.sleep(SECONDS / 10)
        writer.write(b"x" * 200)
    assert b" 413 " in await reader.readuntil(b"\r\n\r\n")
    assert await _closed_after((reader, writer)) < SECONDS * 4


async def test_connections_beyond_the_most_are_closed_until_one_leaves(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "MOST_CONNECTIONS", 3)
    kept = [await connect() for _ in range(3)]
    for one in kept:
        assert await _asked(one) == b"hi"
    assert await _closed_after(await connect()) < SECONDS / 2
    for one in kept:
        assert await _asked(one) == b"hi"
    kept[0][1].close()
    await kept[0][1].wait_closed()
    await asyncio.sleep(0.1)
    assert await _asked(await connect()) == b"hi"
