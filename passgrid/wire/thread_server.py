"""A handler at a port of the loopback, served by a thread beside a program that does something else."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Generator

import uvicorn

from passgrid.wire.asgi import WireApp
from passgrid.wire.http import Handler


@contextlib.contextmanager
def served_in_thread(handler: Handler) -> Generator[str]:
    """The address of the handler, while the block runs."""
    # It listens from here on: who connects before the thread serves only waits for it.
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            WireApp(handler),  # pyright: ignore[reportArgumentType] - its own types are narrower than ASGI's
            log_config=None,
            log_level="warning",
            access_log=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],), name="passgrid-gateway", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
