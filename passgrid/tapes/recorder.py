"""Records any MCP client transport, between the client and its streams; neither side can tell.

The streams are wrapped, not pumped: no task, queue or buffer comes in between, so that cancellation, back pressure and
errors pass as they are.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from passgrid.tapes.frames import Body, Frame
from passgrid.tapes.writer import TapeWriter

Inbound: TypeAlias = SessionMessage | Exception
ClientTransport: TypeAlias = Transport | AbstractAsyncContextManager[tuple[Any, Any]]
"""What `mcp.Client` takes: `stdio_client(…)`, `streamable_http_client(…)`, in-memory streams, a transport of one's own.
"""


@contextlib.asynccontextmanager
async def record(
    transport: ClientTransport, path: Path, source: Mapping[str, Any] | None = None
) -> AsyncGenerator[tuple[RecordedRead, RecordedWrite]]:
    """A transport that passes everything on and writes the session's tape to `path`.

    source: where the tape says it comes from. Raises `InvalidInput` where the file exists and, at the end of the
    session, `TapeFailed` where the tape could not be written.
    """
    with TapeWriter(path, source or {"transport": "unknown"}) as writer:
        async with transport as (read, write):
            yield RecordedRead(read, writer.add), RecordedWrite(write, writer.add)


def frame_body(message: JSONRPCMessage) -> Body:
    """A message as the wire has it: what was not set is not there."""
    body: Body = {"jsonrpc": message.jsonrpc}
    if not isinstance(message, JSONRPCNotification):
        body["id"] = message.id
    match message:
        case JSONRPCRequest() | JSONRPCNotification():
            body["method"] = message.method
            if "params" in message.model_fields_set:
                body["params"] = message.params
        case JSONRPCResponse():
            body["result"] = message.result
        case JSONRPCError():
            body["error"] = message.error.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return body


class RecordedRead:
    """The stream from the server; keeps each message before the client has it."""

    def __init__(self, inner: Any, keep: Callable[[Frame], None]) -> None:
        self._inner = inner
        self._keep = keep

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context of the sender, where the transport has one."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Inbound:
        """The next message. Raises what the transport raises."""
        return self._kept(await self._inner.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    def _kept(self, item: Inbound) -> Inbound:
        self._keep(Frame("server", frame_body(item.message) if isinstance(item, SessionMessage) else None))
        return item

    def __aiter__(self) -> RecordedRead:
        return self

    async def __anext__(self) -> Inbound:
        return self._kept(await self._inner.__anext__())

    async def __aenter__(self) -> RecordedRead:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)


class RecordedWrite:
    """The stream to the server; keeps each message before it is sent."""

    def __init__(self, inner: Any, keep: Callable[[Frame], None]) -> None:
        self._inner = inner
        self._keep = keep

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message. Raises what the transport raises."""
        self._keep(Frame("client", frame_body(item.message)))
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> RecordedWrite:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)
