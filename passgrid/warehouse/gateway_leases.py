"""Tests that one gateway process answers for alone, as long as all of their calls come to it.

A claim in Postgres costs a call more than everything else together, so a process that got several calls of a test in a
row takes a lease of it: an advisory lock of its connection. It then knows what is used up, decides itself, and answers
as soon as the rows are handed to Postgres, without waiting for what Postgres says.

Nothing is lost when the process is killed: a transaction is only sent when the one before is confirmed, so the one
that is under way lies whole in the socket, and Postgres carries it out before it notices that nobody is there any more
and lets go of the lock. What was handed over and not confirmed when the connection itself breaks is written again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field

from psycopg import pq

from passgrid.fakes.state import Candidate
from passgrid.warehouse.gateway_call_back import EVERYTHING, channel_of, space_lock
from passgrid.warehouse.pipelined import (
    AskedInVainOfPostgres,
    Line,
    Params,
    Pipelined,
    Rows,
    Statement,
    connect,
)

log = logging.getLogger(__name__)

CALLS_IN_A_ROW = 3
"""Of one test, answered by this process, before it takes a lease."""
AFTER_CALL_BACK_SECONDS = 10.0
"""Not to be taken again, where somebody else asked for it."""
MOST_LEASES = 200
MOST_ROWS = 64
"""In one transaction; its confirmation stays below what Postgres buffers, and is sent after the commit."""
_MOST_TESTS = 100_000
_WRITE_AGAIN_SECONDS = 0.2

_ROW = b"row"
_USED = b"used_up"
_LEASE = b"lease"
_GIVE_BACK = b"give_back"
_NUMBER = b"number"
_STATEMENTS = {
    _ROW: b"INSERT INTO gateway_journal (handed, test, outcome, entry_id, context, tool, method, path, headers, body) "
    b"VALUES ($1, $2, 'answered', $3, $4, $5, $6, $7, $8, $9) "
    b"ON CONFLICT (handed) WHERE handed IS NOT NULL DO NOTHING",
    _USED: b"INSERT INTO gateway_used AS u (test, since, entry_id, used) VALUES ($1, $2, $3, $4) "
    b"ON CONFLICT (test, since, entry_id) DO UPDATE SET used = greatest(u.used, excluded.used)",
    _LEASE: b"SELECT * FROM gateway_lease($1, $2, $3, $4, $5)",
    _GIVE_BACK: b"SELECT pg_advisory_unlock(7001, gateway_lock($1)), pg_advisory_unlock_shared(7002, $2)",
    _NUMBER: b"SELECT nextval('gateway_order')",
}


@dataclass(slots=True)
class Lease:
    """What is known of a test while nobody else answers for it."""

    test: bytes
    version: int
    """Of what is loaded."""
    since: bytes
    used: dict[str, int]
    ended: bool = False

    def claim(self, version: int, candidates: Sequence[Candidate]) -> str | None:
        """The first entry that is not used up; None: it is not as plain as that, ask Postgres."""
        if version != self.version:
            return None
        for candidate in candidates:
            used = self.used.get(candidate.entry_id, 0)
            if used < candidate.times:
                self.used[candidate.entry_id] = used + 1
                return candidate.entry_id
        return None


@dataclass(slots=True)
class _Row:
    """An answer on its way into the journal."""

    lease: Lease
    entry_id: str
    used: int
    request: Sequence[bytes | None]
    number: bytes = b""
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


@dataclass(slots=True)
class _Asked:
    """Calls of a test without a lease."""

    in_a_row: int = 0
    under_way: int = 0
    not_before: float = 0.0
    taking: asyncio.Future[None] | None = None
    sent: bool = False


@dataclass
class _Unwritten:
    rows: list[_Row] = field(default_factory=list[_Row])
    writing: asyncio.Task[None] | None = None


class Leases:
    """The leases of one process, over a connection of their own. Used from one event loop."""

    def __init__(self, conninfo: str, space: str, known: Callable[[], tuple[int, int]]) -> None:
        """`known`: the versions of what is loaded and of the sessions, as far as this process knows."""
        self._conninfo = conninfo
        self._space = space
        self._known = known
        self._pipelined = Pipelined(
            conninfo, _STATEMENTS, channel=channel_of(space), notified=self._called_back, broken=self._lost
        )
        self._line: Line | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._numbers = 0
        self._held: OrderedDict[bytes, Lease] = OrderedDict()
        self._asked: OrderedDict[bytes, _Asked] = OrderedDict()
        self._queue: deque[_Row | _Order] = deque()
        self._busy = False
        self._unwritten = _Unwritten()
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(
        self, test: bytes, version: int, candidates: Sequence[Candidate], request: Sequence[bytes | None]
    ) -> str | None:
        """The entry that answers a call, when its row is in Postgres's hands; None: it must be asked."""
        lease = self._held.get(test)
        if lease is None or self._line is None:
            return None
        self._line.look()  # somebody may want it back, or the connection may be gone
        entry_id = None if lease.ended else lease.claim(version, candidates)
        if entry_id is None:
            return None
        row = _Row(lease, entry_id, lease.used[entry_id], request)
        self._queue.append(row)
        self._go_on()
        if not row.handed and not row.failed:
            row.waiting = asyncio.get_running_loop().create_future()
            await row.waiting
        return entry_id if row.handed else None

    async def settled(self, test: bytes) -> None:
        """Wait while a lease of the test is being taken."""
        while (taking := self._asked_of(test).taking) is not None:
            await asyncio.shield(taking)

    async def before_asking(self, test: bytes) -> None:
        """Postgres is about to be asked for a test: what was answered is used up. Say `after_asking` when it has told.

        Raises `AskedInVainOfPostgres` where answers of before cannot be written down.
        """
        await self._all_written()
        self._asked_of(test).under_way += 1

    def after_asking(self, test: bytes, *, answered: bool) -> None:
        """Postgres has told; `answered`: with an entry."""
        asked = self._asked_of(test)
        asked.under_way -= 1
        asked.in_a_row = asked.in_a_row + 1 if answered else 0
        if asked.taking is None and asked.in_a_row >= CALLS_IN_A_ROW and time.monotonic() >= asked.not_before:
            self._want(asked)
        if asked.taking is not None and asked.under_way == 0 and not asked.sent:
            asked.sent = True
            self._begin(self._take(test, asked))

    async def give_back(self, test: bytes) -> None:
        """Let others answer for a test, when all of its rows are written."""
        lease = self._held.get(test)
        if lease is not None:
            await self._end(lease)

    async def give_all_back(self) -> None:
        """The same for every test."""
        for lease in list(self._held.values()):
            await self._end(lease)

    def close(self) -> None:
        """End the connection; leases end with it. What is not written yet is written now."""
        self._pipelined.close()
        for task in self._tasks:
            task.cancel()
        if self._unwritten.writing is not None:
            self._unwritten.writing.cancel()
        if self._unwritten.rows:
            _write(self._conninfo, self._unwritten.rows)

    def _asked_of(self, test: bytes) -> _Asked:
        asked = self._asked.get(test)
        if asked is None:
            asked = self._asked[test] = _Asked()
            if len(self._asked) > _MOST_TESTS:
                oldest, idle = self._asked.popitem(last=False)
                if idle.under_way or idle.taking is not None:
                    self._asked[oldest] = idle
        return asked

    def _want(self, asked: _Asked) -> None:
        """From now on calls of the test wait until there is a lease, or is none."""
        if self._line is None or self._line.broken:
            if self._connecting is None or self._connecting.done():
                self._connecting = self._begin(self._connect())
        elif not self._unwritten.rows:
            asked.taking, asked.sent = asyncio.get_running_loop().create_future(), False

    async def _connect(self) -> None:
        try:
            line = await self._pipelined.connected()
            rows = await line.ask(_NUMBER, [])
        except AskedInVainOfPostgres as error:
            log.warning("no leases: %s", error)
            return
        # Rows are numbered through, whichever process and connection hands them over.
        self._numbers = int(rows[0][0] or 0) << 32
        self._line = line

    async def _take(self, test: bytes, asked: _Asked) -> None:
        loads, sessions = self._known()
        asked.not_before = time.monotonic() + 1.0
        try:
            numbers = [str(number).encode() for number in (space_lock(self._space), loads, sessions)]
            rows = await self._ordered(_LEASE, [self._space.encode(), *numbers, test])
            since, used = rows[0]
            if since is not None:
                self._hold(Lease(test, loads, since.encode(), _counts(used)))
        except AskedInVainOfPostgres as error:
            log.warning("no lease: %s", error)
        finally:
            if asked.taking is not None and not asked.taking.done():
                asked.taking.set_result(None)
            asked.taking, asked.in_a_row = None, 0

    def _hold(self, lease: Lease) -> None:
        self._held[lease.test] = lease
        if len(self._held) > MOST_LEASES:
            self._begin(self._end(next(iter(self._held.values()))))

    async def _end(self, lease: Lease) -> None:
        if lease.ended:
            return
        del self._held[lease.test]
        lease.ended = True
        try:
            await self._ordered(_GIVE_BACK, [lease.test, str(space_lock(self._space)).encode()])
        except AskedInVainOfPostgres as error:
            log.info("a lease went with its connection: %s", error)

    def _called_back(self, said: str) -> None:
        if said == EVERYTHING:
            self._begin(self.give_all_back())
            return
        for test in said.encode().split():
            lease = self._held.get(test)
            if lease is not None:
                self._asked_of(test).not_before = time.monotonic() + AFTER_CALL_BACK_SECONDS
                self._begin(self._end(lease))

    async def _ordered(self, statement: bytes, params: Params) -> Rows:
        rows: asyncio.Future[Rows] = asyncio.get_running_loop().create_future()
        self._queue.append(_Order(statement, params, rows))
        self._go_on()
        return await rows

    def _go_on(self) -> None:
        """Send what is next, where nothing is under way."""
        while not self._busy and self._queue:
            first = self._queue.popleft()
            if isinstance(first, _Order):
                self._send_order(first)
                continue
            batch = [first]
            while self._queue and len(batch) < MOST_ROWS and isinstance(following := self._queue[0], _Row):
                batch.append(following)
                self._queue.popleft()
            self._hand_over(batch)

    def _send_order(self, order: _Order) -> None:
        if self._line is None or self._line.broken:
            order.rows.set_exception(AskedInVainOfPostgres("the connection broke"))
            return

        def answered(rows: Rows | AskedInVainOfPostgres) -> None:
            self._busy = False
            if isinstance(rows, AskedInVainOfPostgres):
                order.rows.set_exception(rows)
            else:
                order.rows.set_result(rows)
                self._go_on()

        self._busy = True
        self._line.send([(order.statement, order.params)], answered)

    def _hand_over(self, batch: list[_Row]) -> None:
        line = self._line
        if line is None or line.broken:
            for row in batch:
                row.settle(handed=False)
            return
        for row in batch:
            self._numbers += 1
            row.number = str(self._numbers).encode()
        self._busy = True
        written = line.send(_statements(batch), lambda rows: self._landed(batch, rows))
        if written is None:
            self._handed(line, batch)
        else:
            written.add_done_callback(lambda _: self._handed(line, batch))

    def _handed(self, line: Line, batch: list[_Row]) -> None:
        if not line.broken:
            for row in batch:
                row.settle(handed=True)

    def _landed(self, batch: list[_Row], rows: Rows | AskedInVainOfPostgres) -> None:
        self._busy = False
        if not isinstance(rows, AskedInVainOfPostgres):
            self._go_on()
            return
        # Who has its answer already keeps it; the others ask again.
        self._unwritten.rows += [row for row in batch if row.handed]
        for row in batch:
            if not row.handed:
                row.settle(handed=False)
        log.error("answers are written again: %s", rows)
        if self._line is not None:
            self._line.break_off(str(rows))

    def _lost(self) -> None:
        """The connection is gone, and every lease with it."""
        for lease in self._held.values():
            lease.ended = True
        self._held.clear()
        queue, self._queue = self._queue, deque()
        for one in queue:
            if isinstance(one, _Row):
                one.settle(handed=False)
            elif not one.rows.done():
                one.rows.set_exception(AskedInVainOfPostgres("the connection broke"))
        self._busy = False
        if self._unwritten.rows:
            self._write_again()

    def _write_again(self) -> None:
        if self._unwritten.writing is None or self._unwritten.writing.done():
            self._unwritten.writing = asyncio.get_running_loop().create_task(self._written_again())

    async def _written_again(self) -> None:
        while self._unwritten.rows:
            batch = list(self._unwritten.rows)
            try:
                await asyncio.to_thread(_write, self._conninfo, batch)
                del self._unwritten.rows[: len(batch)]
            except AskedInVainOfPostgres as error:
                log.error("%d answers are still to be written: %s", len(batch), error)
                await asyncio.sleep(_WRITE_AGAIN_SECONDS)

    async def _all_written(self) -> None:
        if not self._unwritten.rows or self._unwritten.writing is None:
            return
        try:
            async with asyncio.timeout(5.0):
                await asyncio.shield(self._unwritten.writing)
        except TimeoutError:
            raise AskedInVainOfPostgres("what was answered before cannot be written down") from None

    def _begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _statements(rows: Sequence[_Row]) -> list[Statement]:
    """Rows of the journal, and how far their entries are used up: one transaction, that may come twice."""
    written: list[Statement] = [
        (_ROW, [row.number, row.lease.test, row.entry_id.encode(), *row.request]) for row in rows
    ]
    last = {(row.lease.test, row.lease.since, row.entry_id): row.used for row in rows}
    used: list[Statement] = [
        (_USED, [test, since, entry_id.encode(), str(count).encode()])
        for (test, since, entry_id), count in last.items()
    ]
    return [*written, *used]


def _write(conninfo: str, rows: Sequence[_Row]) -> None:
    """Write rows over a connection of their own, and wait for it. Raises `AskedInVainOfPostgres`."""
    connection = connect(conninfo, {name: _STATEMENTS[name] for name in (_ROW, _USED)})
    try:
        results = [connection.exec_(b"BEGIN")]
        results += [_exec(connection, one) for one in _statements(rows)]
        results.append(connection.exec_(b"COMMIT"))
        for result in results:
            if result.status != pq.ExecStatus.COMMAND_OK:
                raise AskedInVainOfPostgres(result.get_error_message())
    finally:
        connection.finish()


def _exec(connection: pq.abc.PGconn, statement: Statement) -> pq.abc.PGresult:
    name, params = statement
    return connection.exec_prepared(name, params)  # pyright: ignore[reportArgumentType] - None is NULL


def _counts(text: str | None) -> dict[str, int]:
    return json.loads(text or "{}")
