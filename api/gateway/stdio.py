"""The front of a gateway for one client that started it: lines of JSON on its standard streams."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from api.gateway.fake_files import FakeFiles, named_files, read_documents
from api.gateway.reading import report_of_test
from api.gateway.redacting import message_redactor
from passgrid.fakes.fake_service import FakeService
from passgrid.fakes.loading import Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.report import FakesReport, report_of, seen_call
from passgrid.wire.mcp_service import Identity
from passgrid.wire.mcp_stdio import StdioFront

LONGEST_LINE = 8_000_000


@dataclass(frozen=True, slots=True)
class StdioOptions:
    """What a front serves, and to whom."""

    paths: tuple[Path, ...]
    mount: str
    identity: Identity
    space: str | None
    """None: everything is kept in memory."""


async def serve_stdio(options: StdioOptions) -> FakesReport:
    """Serve until the client closes our input; returns the report of its test. Raises `UnusableFakes`."""
    if options.space is None:
        return await _in_memory(options)
    return await _shared(options, options.space)


async def _in_memory(options: StdioOptions) -> FakesReport:
    documents, _ = read_documents(named_files(options.paths))
    fakes = Fakes()
    for source, document in documents.items():
        fakes = load(fakes, document, source).fakes
    state = MemoryState(cap=0)

    async def at() -> MountFakes:
        return fakes.mount(options.mount)

    await _serve(FakeService(options.mount, at, state), options)
    rows = (
        seen_call(one.mount, one.tool, one.outcome, one.entry_id, one.answered, one.request.body)
        for one in state.journal
    )
    seen = [one for one in rows if one is not None]
    return report_of(fakes, options.identity.test_id, seen, evicted=False, mount=options.mount)


async def _shared(options: StdioOptions, space: str) -> FakesReport:
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.gateway_loads import open_space
    from passgrid.warehouse.gateway_state import SharedState

    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        with engine.connect() as connection:
            open_space(connection, space)
        FakeFiles(engine, space, options.paths).load()
        state = SharedState(addresses.psycopg_url, space, message_redactor())

        async def at() -> MountFakes:
            return await state.mount_fakes(options.mount)

        await state.refresh()
        await _serve(FakeService(options.mount, at, state), options)
        state.close()
        with engine.connect() as connection:
            found = report_of_test(connection, space, options.identity.test_id, options.mount)
        engine.dispose()
    return found


async def _serve(service: FakeService, options: StdioOptions) -> None:
    front = StdioFront(service, options.identity, options.mount)
    lock = asyncio.Lock()

    async def write(line: bytes) -> None:
        async with lock:
            await asyncio.to_thread(_write_all, line)

    async with _lines() as lines:
        await front.serve(lines, write)


def _write_all(line: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # the client is gone; what it asked for is done all the same
        while line:
            line = line[os.write(sys.stdout.fileno(), line) :]


@contextlib.asynccontextmanager
async def _lines() -> AsyncGenerator[AsyncIterator[bytes]]:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    try:
        yield _whole_lines(reader)
    finally:
        transport.close()


async def _whole_lines(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Every line; one that is too long is given as what it is, no message, and the next one is read."""
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            yield b"a line of more than 8,000,000 bytes\n"
            continue
        if not line:
            return
        yield line
