"""Rows that Postgres is handed and that are lost to nobody, though nobody waits for what it says.

A transaction is only sent when the one before is confirmed. So when this process is killed, at most one is under way,
and it lies whole in the socket: Postgres carries it out before it notices that nobody is there any more. (It would
notice before if it had something to say of its own, so nothing listens to a channel here.) What was
handed over and is not confirmed when the connection itself breaks is written again, over a new one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from psycopg import pq

from passgrid.warehouse.pipelined import AskedInVainOfPostgres, Line, Params, Pipelined, Rows, Statement, connect

log = logging.getLogger(__name__)

MOST_ROWS = 64
"""In one transaction; its confirmation stays below what Postgres buffers, and is sent after the commit."""
_WRITE_AGAIN_SECONDS = 0.2
_WRITTEN_WITHIN_SECONDS = 5.0


class Row(Protocol):
    """Something to be written once, whose number is its own for ever: its statement may come twice."""

    number: bytes
    """Given when it is handed over."""


_RowT = TypeVar("_RowT", bound=Row)


@dataclass(slots=True)
class _Handing(Generic[_RowT]):
    row: _RowT
    handed: bool = False
    failed: bool = False
    waiting: asyncio.Future[None] | None = None

    def settle(self, *, handed: bool) -> None:
        self.handed, self.failed = handed, not handed
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)


@dataclass(slots=True)
class _Order:
    """A statement that is sent when its turn comes."""

    statement: bytes
    params: Params
    rows: asyncio.Future[Rows]


class HandingOver(Generic[_RowT]):
    """One connection, and what is to be sent over it, one after the other. Used from one event loop."""

    def __init__(
        self,
        conninfo: str,
        statements: dict[bytes, bytes],
        writes: Callable[[Sequence[_RowT]], Sequence[Statement]],
        *,
        first_number: bytes,
        lost: Callable[[], None],
    ) -> None:
        """`writes`: the statements that write rows, as one transaction; the same ones again change nothing.
        `first_number`: the statement that numbers connections. `lost` is told that the connection is gone.
        """
        self._conninfo = conninfo
        self._statements = statements
        self._writes = writes
        self._first_number = first_number
        self._lost = lost
        self._pipelined = Pipelined(conninfo, statements, broken=self._broken)
        self._line: Line | None = None
        self._number = 0
        self._queue: deque[_Handing[_RowT] | _Order] = deque()
        self._busy = False
        self._unwritten: list[_RowT] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def ready(self) -> bool:
        """Whether there is a connection, and nothing that has to be written again."""
        return self._line is not None and not self._line.broken and not self._unwritten

    async def connect(self) -> None:
        """Have a connection. Raises `AskedInVainOfPostgres`."""
        line = await self._pipelined.connected()
        rows = await line.ask(self._first_number, [])
        # Rows are numbered through, whichever process and connection hands them over.
        self._number = int(rows[0][0] or 0) << 32
        self._line = line

    def look(self) -> None:
        """Take what has come over the connection, or that it is gone."""
        if self._line is not None:
            self._line.look()

    async def hand(self, row: _RowT) -> bool:
        """Return True when the row is in Postgres's hands; False: it never will be."""
        handing = _Handing(row)
        self._queue.append(handing)
        self._go_on()
        if not handing.handed and not handing.failed:
            handing.waiting = asyncio.get_running_loop().create_future()
            await handing.waiting
        return handing.handed

    async def order(self, statement: bytes, params: Params) -> Rows:
        """The rows a statement gives, after everything that was handed over. Raises `AskedInVainOfPostgres`."""
        rows: asyncio.Future[Rows] = asyncio.get_running_loop().create_future()
        self._queue.append(_Order(statement, params, rows))
        self._go_on()
        return await rows

    async def all_written(self) -> None:
        """Wait for what is being written again. Raises `AskedInVainOfPostgres` where that takes too long."""
        if not self._unwritten or self._writing is None:
            return
        try:
            async with asyncio.timeout(_WRITTEN_WITHIN_SECONDS):
                await asyncio.shield(self._writing)
        except TimeoutError:
            raise AskedInVainOfPostgres("what was answered before cannot be written down") from None

    def close(self) -> None:
        """End the connection. What is not known to be written is written now."""
        self._closing = True
        self._pipelined.close()
        if self._writing is not None:
            self._writing.cancel()
        if self._unwritten:
            self._write(self._unwritten)

    def _go_on(self) -> None:
        """Send what is next, where nothing is under way."""
        while not self._busy and self._queue:
            first = self._queue.popleft()
            if isinstance(first, _Order):
                self._send_order(first)
                continue
            batch = [first]
            while self._queue and len(batch) < MOST_ROWS and isinstance(following := self._queue[0], _Handing):
                batch.append(following)
                self._queue.popleft()
            self._hand_over(batch)

    def _send_order(self, order: _Order) -> None:
        if self._line is None or self._line.broken:
            order.rows.set_exception(AskedInVainOfPostgres("the connection broke"))
            return

        def answered(rows: Rows | AskedInVainOfPostgres) -> None:
            self._busy = False
            if not order.rows.done():
                if isinstance(rows, AskedInVainOfPostgres):
                    order.rows.set_exception(rows)
                else:
                    order.rows.set_result(rows)
            self._go_on()

        self._busy = True
        self._line.send([(order.statement, order.params)], answered)

    def _hand_over(self, batch: list[_Handing[_RowT]]) -> None:
        line = self._line
        if line is None or line.broken:
            for one in batch:
                one.settle(handed=False)
            return
        for one in batch:
            self._number += 1
            one.row.number = str(self._number).encode()
        self._busy = True
        written = line.send(self._writes([one.row for one in batch]), lambda rows: self._landed(batch, rows))
        if written is None:
            _handed(line, batch)
        else:
            written.add_done_callback(lambda _: _handed(line, batch))

    def _landed(self, batch: list[_Handing[_RowT]], rows: Rows | AskedInVainOfPostgres) -> None:
        self._busy = False
        if not isinstance(rows, AskedInVainOfPostgres):
            self._go_on()
            return
        # Who has its answer already keeps it; the others ask again.
        again = [one.row for one in batch if one.handed]
        self._unwritten += again
        for one in batch:
            if not one.handed:
                one.settle(handed=False)
        if again and not self._closing:
            log.error("%d answers are written again: %s", len(again), rows)
        if self._line is not None:
            self._line.break_off(str(rows))

    def _broken(self) -> None:
        queue, self._queue = self._queue, deque()
        for one in queue:
            if isinstance(one, _Handing):
                one.settle(handed=False)
            elif not one.rows.done():
                one.rows.set_exception(AskedInVainOfPostgres("the connection broke"))
        self._busy = False
        self._lost()
        idle = self._writing is None or self._writing.done()
        if self._unwritten and idle and not self._closing:
            self._writing = asyncio.get_running_loop().create_task(self._write_again())

    async def _write_again(self) -> None:
        while self._unwritten:
            rows = list(self._unwritten)
            try:
                await asyncio.to_thread(self._write, rows)
                del self._unwritten[: len(rows)]
            except AskedInVainOfPostgres as error:
                log.error("%d answers are still to be written: %s", len(rows), error)
                await asyncio.sleep(_WRITE_AGAIN_SECONDS)

    def _write(self, rows: Sequence[_RowT]) -> None:
        """Write rows over a connection of their own, and wait for it. Raises `AskedInVainOfPostgres`."""
        connection = connect(self._conninfo, self._statements)
        try:
            results = [connection.exec_(b"BEGIN")]
            results += [_exec(connection, one) for one in self._writes(rows)]
            results.append(connection.exec_(b"COMMIT"))
            for result in results:
                if result.status != pq.ExecStatus.COMMAND_OK:
                    raise AskedInVainOfPostgres(result.get_error_message())
        finally:
            connection.finish()


def _handed(line: Line, batch: Sequence[_Handing[_RowT]]) -> None:
    if not line.broken:
        for one in batch:
            one.settle(handed=True)


def _exec(connection: pq.abc.PGconn, statement: Statement) -> pq.abc.PGresult:
    name, params = statement
    return connection.exec_prepared(name, params)  # pyright: ignore[reportArgumentType] - None is NULL
