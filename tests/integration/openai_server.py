"""A provider on loopback in this process that speaks the chat completions API, and answers as a test wants it to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "the-right-key"


@dataclass(frozen=True)
class Reply:
    """What a request gets."""

    status: int = 200
    code: str = ""
    """Of the error."""
    message: str = "done"
    tokens: tuple[int, int] = (100, 10)
    seconds: float = 0.0
    call: tuple[str, dict[str, Any]] | None = None
    """A tool to call instead of saying anything, and its arguments."""


@dataclass
class Provider:
    """Where it is, and the tasks it was asked, in order."""

    reply: Callable[[str], Reply]
    asked: list[str] = field(default_factory=list[str])
    address: str = ""

    def environment(self, key: str = KEY) -> dict[str, str]:
        """Of a worker host that is to use it."""
        return {"OPENAI_BASE_URL": f"{self.address}/v1", "OPENAI_API_KEY": key}


@contextmanager
def openai_server(reply: Callable[[str], Reply]) -> Generator[Provider]:
    """Serve inside the block. `reply` is asked with the text of the last message; another key gets 401 in any case."""
    provider = Provider(reply)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            document = json.loads(self.rfile.read(int(self.headers["content-length"])))
            task = str(document["messages"][-1]["content"])
            provider.asked.append(task)
            if self.headers["authorization"] != f"Bearer {KEY}":
                answer = Reply(401, "invalid_api_key", "Incorrect API key provided")
            else:
                answer = provider.reply(task)
            time.sleep(answer.seconds)
            body = json.dumps(_document(document["model"], answer)).encode()
            self.send_response(answer.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.address = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def _document(model: str, answer: Reply) -> dict[str, Any]:
    if answer.status != 200:
        return {"error": {"message": answer.message, "code": answer.code, "type": "error", "param": None}}
    used, given = answer.tokens
    message: dict[str, Any] = {"role": "assistant", "content": answer.message}
    if answer.call is not None:
        name, arguments = answer.call
        call = {"id": "call-1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if answer.call else "stop"}],
        "usage": {"prompt_tokens": used, "completion_tokens": given, "total_tokens": used + given},
    }
