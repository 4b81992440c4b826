"""A real HTTP server on loopback that speaks the model APIs."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import uvicorn

from passgrid.model_api.model_api import Answer, ModelApi
from passgrid.wire.http import HttpRequest


@contextmanager
def served(answer: Answer) -> Generator[str]:
    """The address of a server with whoever answers."""
    api = ModelApi(answer, models=["recorded:good-model"])
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(_adapter(api), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


def _adapter(api: ModelApi) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = tuple((name, value) for name, value in scope["headers"])
        reply = await api.handle(HttpRequest(scope["method"], scope["path"], scope["query_string"], headers, body))
        await send({"type": "http.response.start", "status": reply.status, "headers": list(reply.headers)})
        if reply.stream is not None:
            async for piece in reply.stream:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": reply.body})

    return app
