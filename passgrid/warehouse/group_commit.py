"""Rows of many tasks, written in as few transactions as possible over one connection; each task waits for its own.

While a transaction is under way the next rows gather; they go together when it is confirmed.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from passgrid.warehouse.pipelined import AskedInVainOfPostgres, Line, Params, Pipelined, Rows, Statement

MOST_ROWS = 64
"""In one transaction."""
_WAIT_SECONDS = 0.001
"""Longest wait for Postgres in place, where nobody else is waiting."""
_TRY_OTHERS = 8
"""One row in so many is not waited for in place: only so others can show that they are there."""
_CROWDED_SECONDS = 0.1


@dataclass(slots=True)
class _Writing:
    statement: Statement
    written: asyncio.Future[bool]
    """False: it never went out."""


@dataclass(slots=True)
class _Order:
    """A statement that is sent when its turn comes."""

    statement: Statement
    rows: asyncio.Future[Rows]


class GroupCommit:
    """One connection, and what is to be sent over it, one after the other. Used from one event loop.

    Whatever Postgres refuses ends the connection: what its session holds is let go of.
    """

    def __init__(
        self,
        conninfo: str,
        statements: dict[bytes, bytes],
        *,
        channel: str,
        notified: Callable[[str], None],
        lost: Callable[[], None],
    ) -> None:
        """`notified` is told what comes over the channel; `lost`, that the connection is gone."""
        self._lost = lost
        self._pipelined = Pipelined(conninfo, statements, channel=channel, notified=notified, broken=self._broken)
        self._line: Line | None = None
        self._queue: deque[_Writing | _Order] = deque()
        self._busy = False
        self._count = 0
        self._crowded_until = 0.0

    @property
    def ready(self) -> bool:
        """Whether there is a connection."""
        return self._line is not None and not self._line.broken

    async def connect(self) -> None:
        """Have a connection. Raises `AskedInVainOfPostgres`."""
        self._line = await self._pipelined.connected()

    async def ask(self, statement: bytes, params: Params) -> Rows:
        """The rows of a statement, over a new connection where this one is gone. Raises `AskedInVainOfPostgres`."""
        return await self._pipelined.ask(statement, params)

    async def write(self, statement: bytes, params: Params) -> bool:
        """Return True when the row is written; False: it never went out.

        Raises `AskedInVainOfPostgres` where that is not known.
        """
        writing = _Writing((statement, params), asyncio.get_running_loop().create_future())
        if self._busy or self._queue:
            self._crowded_until = time.monotonic() + _CROWDED_SECONDS
        self._queue.append(writing)
        self._go_on()
        self._wait_in_place()
        return await writing.written

    async def order(self, statement: bytes, params: Params) -> Rows:
        """The rows a statement gives, after everything that was to be written. Raises `AskedInVainOfPostgres`."""
        order = _Order((statement, params), asyncio.get_running_loop().create_future())
        self._queue.append(order)
        self._go_on()
        return await order.rows

    def close(self) -> None:
        """End the connection."""
        self._pipelined.close()

    def _wait_in_place(self) -> None:
        """One caller alone gets its answer sooner than the event loop would bring it."""
        self._count += 1
        alone = not self._queue and time.monotonic() > self._crowded_until
        if alone and self._count % _TRY_OTHERS and self._line is not None and self._busy:
            self._line.wait(_WAIT_SECONDS)

    def _go_on(self) -> None:
        """Send what is next, where nothing is under way."""
        while not self._busy and self._queue:
            first = self._queue.popleft()
            if isinstance(first, _Order):
                self._send_order(first)
                continue
            batch = [first]
            while self._queue and len(batch) < MOST_ROWS and isinstance(following := self._queue[0], _Writing):
                batch.append(following)
                self._queue.popleft()
            self._send_batch(batch)

    def _send_order(self, order: _Order) -> None:
        line = self._line
        if line is None or line.broken:
            _refuse(order.rows, AskedInVainOfPostgres("the connection broke"))
            return

        def answered(rows: Rows | AskedInVainOfPostgres) -> None:
            self._busy = False
            if isinstance(rows, AskedInVainOfPostgres):
                _refuse(order.rows, rows)
                line.break_off(str(rows))
                return
            if not order.rows.done():
                order.rows.set_result(rows)
            self._go_on()

        self._busy = True
        line.send([order.statement], answered)

    def _send_batch(self, batch: list[_Writing]) -> None:
        line = self._line
        if line is None or line.broken:
            for one in batch:
                _settle(one.written, written=False)
            return

        def answered(rows: Rows | AskedInVainOfPostgres) -> None:
            self._busy = False
            for one in batch:
                if isinstance(rows, AskedInVainOfPostgres):
                    _refuse(one.written, rows)
                else:
                    _settle(one.written, written=True)
            if isinstance(rows, AskedInVainOfPostgres):
                line.break_off(str(rows))
            else:
                self._go_on()

        self._busy = True
        line.send([one.statement for one in batch], answered)

    def _broken(self) -> None:
        queue, self._queue = self._queue, deque()
        self._busy = False
        self._lost()
        for one in queue:
            if isinstance(one, _Writing):
                _settle(one.written, written=False)
            else:
                _refuse(one.rows, AskedInVainOfPostgres("the connection broke"))


def _settle(future: asyncio.Future[bool], *, written: bool) -> None:
    if not future.done():
        future.set_result(written)


def _refuse(future: asyncio.Future[bool] | asyncio.Future[Rows], error: AskedInVainOfPostgres) -> None:
    if not future.done():
        future.set_exception(error)
