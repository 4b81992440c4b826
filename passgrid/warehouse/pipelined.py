"""One connection to Postgres over which many statements are under way at once, in one event loop.

The library's own asynchronous connection takes one statement at a time and about 250 µs of processor time for each; a
gateway asks for every call of a tool. Here a statement goes out at once, and its answer comes in its turn. Each is a
transaction of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from psycopg import pq

SETTINGS = (
    # A gateway may die at any moment and loses nothing: what Postgres has confirmed is in its memory or on its disk.
    # Only the death of Postgres' own machine can take the last instant with it.
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
        self._connection: pq.abc.PGconn | None = None
        self._waiting: deque[asyncio.Future[list[list[str | None]]]] = deque()
        self._connecting: asyncio.Lock = asyncio.Lock()
        self._writing = False

    async def ask(self, statement: bytes, params: Sequence[bytes | None]) -> list[list[str | None]]:
        """The rows a prepared statement gives, as texts. Raises `AskedInVainOfPostgres`."""
        connection = self._connection or await self._connected()
        answer: asyncio.Future[list[list[str | None]]] = asyncio.get_running_loop().create_future()
        try:
            connection.send_query_prepared(statement, params)
            connection.pipeline_sync()
            if connection.flush():
                self._write_when_possible(connection)
        except Exception as error:
            self._broke(str(error))
            raise AskedInVainOfPostgres(str(error)) from error
        self._waiting.append(answer)
        return await answer

    def close(self) -> None:
        """End the connection."""
        self._broke("closed")

    async def _connected(self) -> pq.abc.PGconn:
        async with self._connecting:
            if self._connection is not None:
                return self._connection
            connection = await asyncio.to_thread(self._connect)
            connection.nonblocking = 1
            connection.enter_pipeline_mode()
            self._connection = connection
            asyncio.get_running_loop().add_reader(connection.socket, self._read)
            return connection

    def _connect(self) -> pq.abc.PGconn:
        connection = pq.PGconn.connect(self._conninfo.encode())
        if connection.status != pq.ConnStatus.OK:
            raise AskedInVainOfPostgres(connection.get_error_message())
        for setting in SETTINGS:
            connection.exec_(setting)
        for name, sql in self._statements.items():
            result = connection.prepare(name, sql)
            if result.status != pq.ExecStatus.COMMAND_OK:
                raise AskedInVainOfPostgres(result.get_error_message())
        return connection

    def _write_when_possible(self, connection: pq.abc.PGconn) -> None:
        if self._writing:
            return
        self._writing = True
        loop = asyncio.get_running_loop()

        def write() -> None:
            try:
                left = connection.flush()
            except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
                left = 0
                self._broke(str(error))
            if not left:
                self._writing = False
                loop.remove_writer(connection.socket)

        loop.add_writer(connection.socket, write)

    def _read(self) -> None:
        connection = self._connection
        if connection is None:
            return
        try:
            connection.consume_input()
            while self._waiting and not connection.is_busy():
                result = connection.get_result()
                if result is None or result.status == pq.ExecStatus.PIPELINE_SYNC:
                    continue
                self._answer(result)
        except Exception as error:  # noqa: BLE001 - whatever it is, the connection is of no use
            self._broke(str(error))

    def _answer(self, result: Any) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():
            return  # who asked is gone
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            waiting.set_result(_rows(result))
        else:
            waiting.set_exception(AskedInVainOfPostgres(result.get_error_message()))

    def _broke(self, why: str) -> None:
        connection, self._connection, self._writing = self._connection, None, False
        if connection is not None:
            loop = asyncio.get_event_loop()
            for remove in (loop.remove_reader, loop.remove_writer):
                remove(connection.socket)
            connection.finish()
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            if not one.done():
                one.set_exception(AskedInVainOfPostgres(f"the connection broke: {why}"))


def _rows(result: Any) -> list[list[str | None]]:
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
