"""A provider on loopback that speaks the chat completions API: with limits, prices and a key of its own.

    python -m benchmarks.openai_stub --requests-per-minute 300 --at-once 8

Prints its address, then serves. `GET /facts` tells what it saw.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

KEY = "the-right-key"


@dataclass
class Provider:
    """What it allows, and what it saw."""

    requests_per_minute: int
    at_once: int
    seconds: float
    """How long an answer takes."""
    tokens: tuple[int, int]
    """Reported for every answer: in and out."""
    window: deque[float] = field(default_factory=deque[float])
    now: int = 0
    most: int = 0
    answered: int = 0
    limited: int = 0
    refused: int = 0
    first: float | None = None
    last: float = 0.0

    def limit(self) -> tuple[str, float] | None:
        """Why a request is not taken, and how long to wait; None where it is."""
        moment = time.monotonic()
        while self.window and self.window[0] <= moment - 60:
            self.window.popleft()
        if self.now >= self.at_once:
            return "too many requests at once", 1.0
        if len(self.window) >= self.requests_per_minute:
            return "too many requests this minute", max(0.1, self.window[0] + 60 - moment)
        return None


def make_app(provider: Provider) -> FastAPI:
    """The server."""
    app = FastAPI()

    @app.get("/facts")
    def facts() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        return {
            "answered": provider.answered,
            "limited": provider.limited,
            "refused": provider.refused,
            "most_at_once": provider.most,
            "seconds": 0.0 if provider.first is None else provider.last - provider.first,
        }

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> Any:  # pyright: ignore[reportUnusedFunction]
        if request.headers.get("authorization") != f"Bearer {KEY}":
            provider.refused += 1
            return _error(401, "Incorrect API key provided", "invalid_api_key")
        provider.most = max(provider.most, provider.now + 1)
        if (limit := provider.limit()) is not None:
            provider.limited += 1
            return _error(429, limit[0], "rate_limit_exceeded", {"retry-after": f"{limit[1]:.2f}"})
        provider.window.append(time.monotonic())
        provider.first = provider.first or time.monotonic()
        provider.now += 1
        try:
            model = (await request.json())["model"]
            await asyncio.sleep(provider.seconds)
        finally:
            provider.now -= 1
        provider.answered += 1
        provider.last = time.monotonic()
        return _completion(model, *provider.tokens)

    return app


def _completion(model: str, used: int, given: int) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": used, "completion_tokens": given, "total_tokens": used + given},
    }


def _error(status: int, message: str, code: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": {"message": message, "code": code}}, status_code=status, headers=headers)


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests-per-minute", type=int, default=1_000_000)
    parser.add_argument("--at-once", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--tokens", type=int, nargs=2, default=(100, 10))
    arguments = parser.parse_args()
    provider = Provider(arguments.requests_per_minute, arguments.at_once, arguments.seconds, tuple(arguments.tokens))
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    server = uvicorn.Server(uvicorn.Config(make_app(provider), log_level="warning"))
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
