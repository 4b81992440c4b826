"""One connection to Postgres over which many statements are under way at once, in one event loop.

The library's own asynchronous connection takes one statement at a time and about 250 µs of processor time for each; a
gateway asks for every call of a tool. Here a statement goes out at once, and its answer comes in its turn. Each is a
transaction of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from psycopg import pq

SETTINGS = (
    # A gateway may die at any moment and loses nothing: what Postgres has confirmed is in its memory or on its disk.
    # A crash of Postgres itself, or of its machine, can take the last instant with it.
    b"SET synchronous_commit = off",
    b"SET plan_cache_mode = force_generic_plan",
    b"SET application_name = 'passgrid gateway'",
)


class AskedInVainOfPostgres(Exception):
    """The statement failed, or the connection broke before its answer came."""


class Pipelined:
    """A connection with prepared statements. Used from one event loop; it connects again after it broke."""

    def __init__(self, conninfo: str, statements: dict[bytes, bytes]) -> None:
        self._conninfo = conninfo
        self._statements = statements
        self._line: _Line | None = None
        self._connecting = asyncio.Lock()

    async def ask(self, statement: bytes, params: Sequence[bytes | None]) -> list[list[str | None]]:
        """The rows a prepared statement gives, as texts. Raises `AskedInVainOfPostgres`."""
        line = self._line
        if line is None or line.broken:
            line = await self._connected()
        return await line.ask(statement, params)

    def close(self) -> None:
        """End the connection."""
        if self._line is not None:
            self._line.break_off("closed")

    async def _connected(self) -> _Line:
        async with self._connecting:
            if self._line is None or self._line.broken:
                self._line = _Line(await asyncio.to_thread(_connect, self._conninfo, self._statements))
            return self._line


class _Line:
    """One connection from its beginning to its end; another one takes its place when it broke."""

    def __init__(self, connection: pq.abc.PGconn) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[list[list[str | None]]]] = deque()
        self._writing = False
        self.broken = False
        connection.nonblocking = 1
        connection.enter_pipeline_mode()
        # libpq forgets the number when the connection is lost, and the event loop has to be told it then.
        self._number = connection.socket
        self._loop.add_reader(self._number, self._read)

    async def ask(self, statement: bytes, params: Sequence[bytes | None]) -> list[list[str | None]]:
        answer: asyncio.Future[list[list[str | None]]] = self._loop.create_future()
        self._waiting.append(answer)
        try:
            self._connection.send_query_prepared(statement, params)
            self._connection.pipeline_sync()
            if self._connection.flush():
                self._write_when_possible()
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self.break_off(str(error))
        return await answer

    def break_off(self, why: str) -> None:
        """Whoever waits is told, first of all; then nothing of it is left."""
        if self.broken:
            return
        self.broken = True
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            if not one.done():
                one.set_exception(AskedInVainOfPostgres(f"the connection broke: {why.strip()}"))
        self._loop.remove_reader(self._number)
        if self._writing:
            self._loop.remove_writer(self._number)
        self._connection.finish()

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

    def _read(self) -> None:
        try:
            self._connection.consume_input()
            nothing = 0
            # Between two statements there is one None; two say that there is nothing more to come.
            while self._waiting and nothing < 2 and not self._connection.is_busy():
                result = self._connection.get_result()
                nothing = nothing + 1 if result is None else 0
                if result is not None and result.status != pq.ExecStatus.PIPELINE_SYNC:
                    self._answer(result)
            if self._connection.status != pq.ConnStatus.OK:
                self.break_off("the server closed it")
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self.break_off(str(error))

    def _answer(self, result: pq.abc.PGresult) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():
            return  # who asked is gone
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            waiting.set_result(_rows(result))
        else:
            waiting.set_exception(AskedInVainOfPostgres(result.get_error_message()))


def _connect(conninfo: str, statements: dict[bytes, bytes]) -> pq.abc.PGconn:
    connection = pq.PGconn.connect(conninfo.encode())
    if connection.status != pq.ConnStatus.OK:
        raise AskedInVainOfPostgres(connection.get_error_message())
    for setting in SETTINGS:
        connection.exec_(setting)
    for name, sql in statements.items():
        result = connection.prepare(name, sql)
        if result.status != pq.ExecStatus.COMMAND_OK:
            raise AskedInVainOfPostgres(result.get_error_message())
    return connection


def _rows(result: pq.abc.PGresult) -> list[list[str | None]]:
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
