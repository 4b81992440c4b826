"""One connection to Postgres over which many statements are under way at once, in one event loop.

The library's own asynchronous connection takes one statement at a time and about 250 µs of processor time for each; a
gateway asks for every call of a tool. Here a statement goes out at once, and its answer comes in its turn. Each is a
transaction of its own, unless they are sent together.
"""

from __future__ import annotations

import asyncio
import select
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SETTINGS = (
    # A gateway may die at any moment and loses nothing: what Postgres has confirmed is in its memory or on its disk.
    # A crash of Postgres itself, or of its machine, can take the last instant with it.
    b"SET synchronous_commit = off",
    b"SET plan_cache_mode = force_generic_plan",
    b"SET application_name = 'passgrid gateway'",
    # What a server may have set otherwise, and what claims rest on.
    b"SET default_transaction_isolation = 'read committed'",
    b"SET statement_timeout = 0",
)
_TIMEOUTS = {"connect_timeout": 5, "tcp_user_timeout": 10_000, "keepalives_idle": 10}
"""Seconds, milliseconds and seconds: a server that is not there any more is noticed."""

Rows: TypeAlias = list[list[str | None]]
Params: TypeAlias = Sequence[bytes | None]
Statement: TypeAlias = tuple[bytes, Params]
"""The name of a prepared statement, and what it is asked with."""


class AskedInVainOfPostgres(Exception):
    """The statement failed, or the connection broke before its answer came."""


Answered: TypeAlias = Callable[[Rows | AskedInVainOfPostgres], None]


class Pipelined:
    """A connection with prepared statements. Used from one event loop; it connects again after it broke."""

    def __init__(
        self,
        conninfo: str,
        statements: dict[bytes, bytes],
        *,
        channel: str | None = None,
        notified: Callable[[str], None] | None = None,
        broken: Callable[[], None] | None = None,
    ) -> None:
        """`notified` is told what comes over the `channel`; `broken`, that the connection is lost."""
        self._conninfo = conninfo
        self._statements = statements
        self._channel = channel
        self._notified = notified
        self._broken = broken
        self._line: Line | None = None
        self._connecting: asyncio.Task[Line] | None = None
        self._closed = False

    async def ask(self, statement: bytes, params: Params) -> Rows:
        """The rows a prepared statement gives, as texts. Raises `AskedInVainOfPostgres`."""
        line = self._line
        if line is None or line.broken:
            line = await self.connected()
        return await line.ask(statement, params)

    def close(self) -> None:
        """End the connection for good."""
        self._closed = True
        if self._line is not None:
            self._line.break_off("closed")

    async def connected(self) -> Line:
        """The connection, made where there is none: once for all who want it. Raises `AskedInVainOfPostgres`."""
        if self._line is not None and not self._line.broken:
            return self._line
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.get_running_loop().create_task(self._connect())
        return await asyncio.shield(self._connecting)

    async def _connect(self) -> Line:
        if self._closed:
            raise AskedInVainOfPostgres("the connection was closed")
        connection = await asyncio.to_thread(connect, self._conninfo, self._statements, self._channel)
        self._line = Line(connection, self._notified, self._broken)
        if self._closed:
            self._line.break_off("closed")
        return self._line


class Line:
    """One connection from its beginning to its end; another one takes its place when it broke."""

    def __init__(
        self,
        connection: pq.abc.PGconn,
        notified: Callable[[str], None] | None = None,
        on_break: Callable[[], None] | None = None,
    ) -> None:
        self._connection = connection
        self._notified = notified
        self._on_break = on_break
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Answered] = deque()
        """One for each transaction whose end has not come."""
        self._rows: Rows = []
        self._failure = ""
        self._writing = False
        self.broken = False
        connection.nonblocking = 1
        connection.enter_pipeline_mode()
        # libpq forgets the number when the connection is lost, and the event loop has to be told it then.
        self._number = connection.socket
        self._poll = select.poll()
        self._poll.register(self._number, select.POLLIN)
        self._loop.add_reader(self._number, self.look)

    async def ask(self, statement: bytes, params: Params) -> Rows:
        """The rows of one statement. Raises `AskedInVainOfPostgres`."""
        answer: asyncio.Future[Rows] = self._loop.create_future()
        self.send([(statement, params)], lambda rows: _settle(answer, rows))
        return await answer

    def send(self, statements: Sequence[Statement], answered: Answered) -> None:
        """Send statements that are one transaction; `answered` gets the rows of the last, or why there are none."""
        if self.broken:
            answered(AskedInVainOfPostgres("the connection broke"))
            return
        self._waiting.append(answered)
        try:
            for statement, params in statements:
                self._connection.send_query_prepared(statement, params)
            self._connection.pipeline_sync()
            if self._connection.flush():
                self._write_when_possible()
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self.break_off(str(error))

    def wait(self, seconds: float) -> None:
        """Wait in place for something to come, and take it; nobody else is served meanwhile."""
        if self.broken:
            return
        if self._poll.poll(seconds * 1000):
            self.look()

    def look(self) -> None:
        """Take whatever has come, without waiting for more."""
        try:
            self._take()
            # Some event loops tell only once that a connection is gone.
            gone = any(event & (select.POLLHUP | select.POLLERR) for _, event in self._poll.poll(0))
            if gone:
                self._take()
            if gone or self._connection.status != pq.ConnStatus.OK:
                self.break_off("the server closed it")
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self.break_off(str(error))

    def _take(self) -> None:
        self._connection.consume_input()
        nothing = 0
        # Between two statements there is one None; two say that there is nothing more to come.
        while self._waiting and nothing < 2 and not self._connection.is_busy():
            result = self._connection.get_result()
            nothing = nothing + 1 if result is None else 0
            if result is None:
                continue
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                self._ended()
            else:
                self._keep(result)
        while self._notified is not None and (told := self._connection.notifies()) is not None:
            self._notified(told.extra.decode())

    def break_off(self, why: str) -> None:
        """Nothing is left of it, and whoever waits is told."""
        if self.broken:
            return
        self.broken = True
        self._loop.remove_reader(self._number)
        if self._writing:
            self._loop.remove_writer(self._number)
        self._connection.finish()
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            one(AskedInVainOfPostgres(f"the connection broke: {self._failure or why.strip()}"))
        if self._on_break is not None:
            self._on_break()

    def _write_when_possible(self) -> None:
        if not self._writing:
            self._writing = True
            self._loop.add_writer(self._number, self._write)

    def _write(self) -> None:
        try:
            left = self._connection.flush()
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self.break_off(str(error))
            return
        if not left:
            self._writing = False
            self._loop.remove_writer(self._number)

    def _keep(self, result: pq.abc.PGresult) -> None:
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            self._rows = _rows(result)
        elif not self._failure:
            # What comes after it in the same transaction is only said to be aborted.
            self._failure = result.get_error_message().strip() or "the statement failed"

    def _ended(self) -> None:
        """The transaction is committed, or it failed: only now is it known which."""
        answered = self._waiting.popleft()
        failure, self._failure = self._failure, ""
        answered(AskedInVainOfPostgres(failure) if failure else self._rows)


def connect(conninfo: str, statements: dict[bytes, bytes], channel: str | None = None) -> pq.abc.PGconn:
    """A connection that knows the statements and listens on the channel. Raises `AskedInVainOfPostgres`."""
    given = conninfo_to_dict(conninfo)
    timeouts = {name: value for name, value in _TIMEOUTS.items() if name not in given}
    connection = pq.PGconn.connect(make_conninfo(conninfo, **timeouts).encode())
    if connection.status != pq.ConnStatus.OK:
        raise AskedInVainOfPostgres(connection.get_error_message())
    listening = () if channel is None else (f'LISTEN "{channel}"'.encode(),)
    try:
        results = [connection.exec_(one) for one in (*SETTINGS, *listening)]
        results += [connection.prepare(name, sql) for name, sql in statements.items()]
    except psycopg.Error as error:
        connection.finish()
        raise AskedInVainOfPostgres(str(error)) from None
    for result in results:
        if result.status != pq.ExecStatus.COMMAND_OK:
            message = result.get_error_message()
            connection.finish()
            raise AskedInVainOfPostgres(message)
    return connection


def _settle(answer: asyncio.Future[Rows], rows: Rows | AskedInVainOfPostgres) -> None:
    if answer.done():
        return  # who asked is gone
    if isinstance(rows, AskedInVainOfPostgres):
        answer.set_exception(rows)
    else:
        answer.set_result(rows)


def _rows(result: pq.abc.PGresult) -> Rows:
    return [
        [
            None if (value := result.get_value(row, column)) is None else value.decode()
            for column in range(result.nfields)
        ]
        for row in range(result.ntuples)
    ]


def text_array(values: Sequence[str]) -> bytes:
    """An array of texts, as Postgres reads it."""
    quoted = ('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    return ("{" + ",".join(quoted) + "}").encode()
