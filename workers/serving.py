"""Serves the gateway of one attempt's agent, on the event loop that runs the attempt."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator

from passgrid.wire.asgi import WireApp
from passgrid.wire.http import Handler


@contextlib.asynccontextmanager
async def serve_gateway(handler: Handler, listener: socket.socket) -> AsyncGenerator[None]:
    """Serve on a listening socket until the end of the context, then drop what is still connected.

    uvicorn's protocol without its server, which takes the process's signals and waits for clients to go.
    """
    # Only where an agent is a command: it takes a moment to import.
    from uvicorn import Config
    from uvicorn.server import ServerState

    config = Config(WireApp(handler), http="h11", ws="none", lifespan="off", log_config=None, access_log=False)
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: config.http_protocol_class(config=config, server_state=state, app_state={}),  # pyright: ignore
        sock=listener,
    )
    try:
        yield
    finally:
        server.close()
        for task in state.tasks:
            task.cancel()
        for connection in list(state.connections):
            connection.transport.abort()
        await asyncio.gather(*state.tasks, return_exceptions=True)
