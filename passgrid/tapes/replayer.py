"""Answers an MCP client from a tape: no server, no process, no socket.

A request is answered as the same request was, the n-th time as the n-th time. Ids and progress tokens are those of the
client that asks now; notifications and requests of the server come where they came. What the tape does not hold is an
error that says so, never a guess.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any

import anyio
import anyio.abc
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION, jsonrpc_message_adapter
from pydantic import ValidationError

from passgrid.json_values import is_object
from passgrid.tapes.era import DISCOVER, INITIALIZE
from passgrid.tapes.exchanges import CANCELLED, PROGRESS, Exchange, Reaction, exchanges_of, request_key
from passgrid.tapes.format import Tape
from passgrid.tapes.frames import (
    Body,
    frame_id,
    is_answer,
    is_notification,
    is_request,
    meta_of,
    params_of,
    progress_token,
)
from passgrid.tapes.misses import MISS_CODE, differences, miss_text, without_meta
from passgrid.tapes.recorder import frame_body

PATIENCE = 10.0
"""Seconds to leave a request unanswered that the recorded client gave up, before that is said."""

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

REPEATABLE = frozenset(
    {INITIALIZE, DISCOVER, "ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
     "logging/setLevel"}
)  # fmt: skip
"""Asked as often as a client pleases, without changing anything: the last answer holds from then on."""


class Replay:
    """A transport for `mcp.Client` that answers from a tape; one session for each `async with`."""

    def __init__(self, tape: Tape, patience: float = PATIENCE) -> None:
        self._tape = tape
        self._exchanges = exchanges_of(tape.frames)
        self._patience = patience
        self.misses: list[str] = []
        """Every error of the current session that is the replay's own, in words."""
        self._session: AbstractAsyncContextManager[tuple[Any, Any]] | None = None

    async def __aenter__(self) -> tuple[Any, Any]:
        self.misses = []
        self._session = self._streams()
        return await self._session.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        session, self._session = self._session, None
        return await session.__aexit__(kind, error, trace) if session is not None else None

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncGenerator[tuple[Any, Any]]:
        # Unbounded towards the client: a client that is slow to read must not hold up what it sends.
        to_client, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        to_server, from_client = anyio.create_memory_object_stream[SessionMessage](16)
        async with from_server, to_server, from_client, to_client, anyio.create_task_group() as tasks:
            session = _Session(self._tape, self._exchanges, self._patience, self.misses, to_client, tasks)
            tasks.start_soon(session.serve, from_client)
            yield from_server, to_server
            tasks.cancel_scope.cancel()


class _Session:
    """One client being answered."""

    def __init__(
        self,
        tape: Tape,
        exchanges: Sequence[Exchange],
        patience: float,
        misses: list[str],
        to_client: Any,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        self._tape = tape
        self._patience = patience
        self._misses = misses
        self._to_client = to_client
        self._tasks = tasks
        self._recorded = _by_key(exchanges)
        self._bodies = [exchange.body for exchange in exchanges]
        self._used: dict[tuple[str, str], int] = {}
        self._ids: dict[str, str | int] = {}
        """The client's id now by the recorded one: of requests, as subscriptions name them."""
        self._asked: dict[str, tuple[anyio.Event, list[Body]]] = {}
        """Requests to the client that it has not answered yet, by the id they have now."""
        self._asked_ids: dict[str, str] = {}
        self._given_up: dict[str, anyio.Event] = {}
        self._diverged: str | None = None

    async def serve(self, from_client: Any) -> None:
        async for item in from_client:
            body = frame_body(item.message)
            if is_request(body):
                await self._answer(body)
            elif is_answer(body) and (asked := self._asked.pop(frame_id(body), None)) is not None:
                asked[1].append(body)
                asked[0].set()
            elif is_notification(body):
                await self._notice(body)

    async def _answer(self, body: Body) -> None:
        if self._diverged is not None:
            await self._fail(body, self._diverged)
            return
        exchange = self._next(body)
        if exchange is None:
            await self._miss(body)
            return
        self._ids[frame_id(exchange.body)] = body["id"]
        if exchange.answered and all(not is_request(reaction.body) for reaction in exchange.reactions):
            for reaction in exchange.reactions:
                await self._send(reaction.body, exchange, body)
        else:
            self._tasks.start_soon(self._play, exchange, body)

    async def _notice(self, body: Body) -> None:
        if body["method"] == CANCELLED and (given_up := self._given_up.get(str(params_of(body).get("requestId")))):
            given_up.set()
        exchange = self._next(body)
        if exchange is not None and exchange.reactions:
            self._tasks.start_soon(self._play, exchange, body)

    def _next(self, body: Body) -> Exchange | None:
        key = _key(body)
        recorded = self._recorded.get(key, ())
        n = self._used.get(key, 0)
        if n >= len(recorded):
            return recorded[-1] if recorded and body["method"] in REPEATABLE else None
        self._used[key] = n + 1
        return recorded[n]

    async def _play(self, exchange: Exchange, asked: Body) -> None:
        """The reactions in order; at a request to the client it waits for the reply, as the server did."""
        for reaction in exchange.reactions:
            if not is_request(reaction.body):
                await self._send(reaction.body, exchange, asked)
            elif (difference := await self._ask(reaction)) is not None:
                if is_request(asked):
                    await self._fail(asked, difference)
                else:
                    self._diverged = difference
                return
        if is_request(asked) and not exchange.answered:
            await self._stay_silent(exchange, asked)

    async def _ask(self, reaction: Reaction) -> str | None:
        """Send a request to the client. What its reply has that the recorded one had not; None where it is equal."""
        now = f"replay-{len(self._asked_ids) + 1}"
        self._asked_ids[frame_id(reaction.body)] = now
        replied, replies = anyio.Event(), list[Body]()
        self._asked[now] = (replied, replies)
        await self._put(_copy(reaction.body) | {"id": now})
        if reaction.reply is None:
            return None
        await replied.wait()
        found = differences(_outcome(reaction.reply), _outcome(replies[0]))
        if not found:
            return None
        shown = "\n  ".join(found[:4])
        return f"replay miss: the client answers {reaction.body['method']} not as it did when recorded\n  {shown}"

    async def _stay_silent(self, exchange: Exchange, asked: Body) -> None:
        if exchange.cancelled_at is None and self._tape.complete and exchange.body["method"] == "subscriptions/listen":
            return
        if exchange.cancelled_at is None:
            await self._fail(asked, f"replay miss: the recording of {asked['method']} ends before its answer")
            return
        given_up = self._given_up[frame_id(asked)] = anyio.Event()
        with anyio.move_on_after(self._patience):
            await given_up.wait()
            return
        await self._fail(asked, f"replay miss: the recorded client gave {asked['method']} up, and this one waits")

    async def _send(self, recorded: Body, exchange: Exchange, asked: Body) -> None:
        body = _copy(recorded)
        if is_answer(body):
            body["id"] = asked["id"]
        elif body["method"] == PROGRESS and params_of(body).get("progressToken") == progress_token(exchange.body):
            token = progress_token(asked)
            if token is None:
                return
            body["params"]["progressToken"] = token
        elif body["method"] == CANCELLED and "requestId" in params_of(body):
            asked_id = str(body["params"]["requestId"])
            body["params"]["requestId"] = self._asked_ids.get(asked_id, asked_id)
        for holder in (body.get("params"), body.get("result")):
            subscription = meta_of(holder).get(SUBSCRIPTION_KEY)
            if subscription is not None and str(subscription) in self._ids:
                meta_of(holder)[SUBSCRIPTION_KEY] = self._ids[str(subscription)]
        await self._put(body)

    async def _miss(self, body: Body) -> None:
        method, era = body["method"], self._tape.era
        if method == "ping":
            await self._put({"jsonrpc": "2.0", "id": body["id"], "result": {}})
        elif method == DISCOVER and era is not None and era.name == "handshake":
            # What a server of that time answers; a client that speaks both goes on with the handshake.
            error = {"code": METHOD_NOT_FOUND, "message": "Method not found", "data": method}
            await self._put({"jsonrpc": "2.0", "id": body["id"], "error": error})
        elif method in (DISCOVER, INITIALIZE) and era is not None and era.name == "modern":
            text = f"replay miss: recorded by a client of {era.protocol}; connect with mode={era.protocol!r}"
            data = {"supported": [era.protocol], "requested": params_of(body).get("protocolVersion", era.protocol)}
            await self._fail(body, text, UNSUPPORTED_PROTOCOL_VERSION, data)
        else:
            same = [one for one in self._bodies if is_request(one) and one["method"] == method]
            times = len(self._recorded.get(_key(body), ()))
            await self._fail(body, miss_text(body, same, times, self._tape.source))

    async def _fail(self, asked: Body, text: str, code: int = MISS_CODE, data: Any = None) -> None:
        self._misses.append(text)
        error: dict[str, Any] = {"code": code, "message": text}
        if data is not None:
            error["data"] = data
        await self._put({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    async def _put(self, body: Body) -> None:
        try:
            item = SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0"} | body, by_name=False))
        except ValidationError as error:
            item = error  # What a transport hands its client for a message that is none.
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_client.send(item)


def _by_key(exchanges: Sequence[Exchange]) -> dict[tuple[str, str], list[Exchange]]:
    found: dict[tuple[str, str], list[Exchange]] = {}
    for exchange in exchanges:
        found.setdefault(_key(exchange.body), []).append(exchange)
    return found


def _key(body: Body) -> tuple[str, str]:
    """Notifications of a client carry ids and counts of their session: they are told apart by method alone."""
    return request_key(body) if is_request(body) else (body["method"], "")


def _outcome(reply: Body) -> dict[str, Any]:
    result = reply.get("result")
    return without_meta(result) if is_object(result) else {"error": reply.get("error")}


def _copy(body: Body) -> Body:
    """A body of its own, so that a client that changes what it got does not change the tape."""
    return json.loads(json.dumps(body))
