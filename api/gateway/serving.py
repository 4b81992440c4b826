"""A gateway process: what it serves, from when it starts until it ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from api.gateway.fake_files import FakeFiles
from api.gateway.gateway import Gateway
from api.gateway.loaded_fixtures import LoadedFixtures
from api.gateway.model_turns import NO_SOURCES, ModelSources, ModelTurns
from api.gateway.patience import PatientProtocol
from api.gateway.recorded_servers import RecordedServer
from api.gateway.redacting import message_redactor
from passgrid.fakes.fake_service import Behind
from passgrid.fakes.state import DEFAULT_CAP
from passgrid.model_api.model_api import ModelApi
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.gateway_loads import open_space
from passgrid.warehouse.gateway_state import SharedState
from passgrid.wire.asgi import LOOPBACK, WireApp, WireLimits

log = logging.getLogger(__name__)

WATCH_SECONDS = 1.0
DEFAULT_SPACE = "default"


@dataclass(frozen=True)
class Served:
    """What a gateway serves."""

    space: str = DEFAULT_SPACE
    paths: Sequence[Path] = ()
    """Files and folders of fakes."""
    behind: Mapping[str, Behind] = field(default_factory=dict[str, Behind])
    models: ModelSources = NO_SOURCES
    cap: int = DEFAULT_CAP
    token_required: bool = False
    host_names: frozenset[str] = LOOPBACK


@contextlib.asynccontextmanager
async def gateway(served: Served, database_url: str, conninfo: str) -> AsyncGenerator[Gateway]:
    """A gateway over a database. Raises `UnusableFakes` where a file cannot be loaded; nothing of it is then."""
    # A process that stands still in the middle of a reset holds everybody up no longer than this.
    engine = make_engine(database_url, pool_size=4, idle_s=5)
    redact = message_redactor()
    state = SharedState(conninfo, served.space, redact, served.cap)
    try:
        with engine.connect() as connection:
            key = open_space(connection, served.space)
        files = FakeFiles(engine, served.space, served.paths)
        files.load()
        await state.refresh()
        for one in served.behind.values():
            if isinstance(one, RecordedServer):
                one.follow_journal(state.recorded_calls)
        watching = asyncio.create_task(_watch(files, state)) if served.paths else None
        try:
            yield Gateway(
                engine,
                served.space,
                key,
                state,
                behind=served.behind,
                models=ModelApi(
                    ModelTurns(served.models, LoadedFixtures(state), engine, served.space, redact.redactor),
                    models=served.models.names,
                ),
                cap=served.cap,
                token_required=served.token_required,
            )
        finally:
            if watching is not None:
                watching.cancel()
            for one in served.behind.values():
                close: Any = getattr(one, "close", None)
                if close is not None:
                    await close()
    finally:
        state.close()
        engine.dispose()


async def serve(served: Served, database_url: str, conninfo: str, listener: socket.socket) -> None:
    """Serve on a listening socket until told to stop."""
    # What was imported lives as long as the process: it need not be looked at again and again.
    gc.collect()
    gc.freeze()
    # A request leaves no cycles behind: looking for them after every few of them costs each a tenth of its time.
    gc.set_threshold(20_000, 20, 20)
    async with gateway(served, database_url, conninfo) as made:
        app = WireApp(made.handle, WireLimits(body_seconds=None, hosts=served.host_names))
        config = uvicorn.Config(
            app,  # pyright: ignore[reportArgumentType] - its own types are narrower than ASGI's
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            date_header=False,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            timeout_keep_alive=75,
            timeout_graceful_shutdown=5,
            h11_max_incomplete_event_size=64_000,
        )
        await uvicorn.Server(config).serve(sockets=[listener])


async def _watch(files: FakeFiles, state: SharedState) -> None:
    """Load files again when they change: whole, or not at all."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            if await asyncio.to_thread(files.load_changed):
                await state.refresh()
        except Exception as error:  # noqa: BLE001 - what is loaded stays, whatever is wrong with the files
            log.error("fakes were not loaded again: %s", error)
