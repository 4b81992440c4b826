"""Tests that one gateway process answers for alone, as long as all of their calls come to it.

A claim in Postgres costs a call more than everything else together, so a process that got several calls of a test in a
row takes a lease of it: an advisory lock of its connection. It then knows what is used up, decides itself, and answers
as soon as the row is handed to Postgres, without waiting for what Postgres says. Postgres lets go of the lock when the
process is gone and everything that it handed over is written. See `handing_over` for why nothing is lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass

from passgrid.fakes.state import Candidate
from passgrid.warehouse.gateway_call_back import EVERYTHING, space_lock
from passgrid.warehouse.handing_over import HandingOver
from passgrid.warehouse.pipelined import AskedInVainOfPostgres, Statement

log = logging.getLogger(__name__)

CALLS_IN_A_ROW = 3
"""Of one test, answered by this process, before it takes a lease."""
AFTER_CALL_BACK_SECONDS = 10.0
"""Not to be taken again, where somebody else asked for it."""
AFTER_TAKING_SECONDS = 1.0
MOST_LEASES = 200
_MOST_TESTS = 100_000

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
class Answer:
    """On its way into the journal."""

    lease: Lease
    entry_id: str
    used: int
    """Calls the entry has answered with this one."""
    request: Sequence[bytes | None]
    """Context, tool, method, path, headers and body."""
    number: bytes = b""


@dataclass(slots=True)
class _Asked:
    """Calls of a test without a lease."""

    in_a_row: int = 0
    under_way: int = 0
    not_before: float = 0.0
    taking: asyncio.Future[None] | None = None
    sent: bool = False


class Leases:
    """The leases of one process. Used from one event loop."""

    def __init__(self, conninfo: str, space: str, known: Callable[[], tuple[int, int]]) -> None:
        """`known`: the versions of what is loaded and of the sessions, as far as this process knows."""
        self._space = space
        self._lock = str(space_lock(space)).encode()
        self._known = known
        self._line = HandingOver[Answer](
            conninfo,
            _STATEMENTS,
            _statements,
            first_number=_NUMBER,
            lost=self._lost,
        )
        self._connecting: asyncio.Task[None] | None = None
        self._held: OrderedDict[bytes, Lease] = OrderedDict()
        self._asked: OrderedDict[bytes, _Asked] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(
        self, test: bytes, version: int, candidates: Sequence[Candidate], request: Sequence[bytes | None]
    ) -> str | None:
        """The entry that answers a call, when its row is in Postgres's hands; None: Postgres must be asked."""
        lease = self._held.get(test)
        if lease is None:
            return None
        self._line.look()  # the connection may be gone
        entry_id = None if lease.ended else lease.claim(version, candidates)
        if entry_id is None:
            return None
        handed = await self._line.hand(Answer(lease, entry_id, lease.used[entry_id], request))
        return entry_id if handed else None

    async def settled(self, test: bytes) -> None:
        """Wait while a lease of the test is being taken."""
        while (taking := self._asked_of(test).taking) is not None:
            await asyncio.shield(taking)

    async def before_asking(self, test: bytes) -> None:
        """Postgres is about to be asked for a test: what was answered is used up. Say `after_asking` when it has told.

        Raises `AskedInVainOfPostgres` where answers of before cannot be written down.
        """
        await self._line.all_written()
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
        """Let others answer for a test, when everything handed over is written."""
        lease = self._held.get(test)
        if lease is not None:
            await self._end(lease)

    async def give_all_back(self) -> None:
        """The same for every test."""
        for lease in list(self._held.values()):
            await self._end(lease)

    def called_back(self, said: str) -> None:
        """Somebody asks for tests, by their numbers, or for everything."""
        if said == EVERYTHING:
            self._begin(self.give_all_back())
            return
        for test in said.encode().split():
            lease = self._held.get(test)
            if lease is not None:
                self._asked_of(test).not_before = time.monotonic() + AFTER_CALL_BACK_SECONDS
                self._begin(self._end(lease))

    def deaf(self) -> None:
        """Nobody can ask for anything any more: the connection is gone that `called_back` comes over."""
        if self._held:
            self._begin(self.give_all_back())

    def close(self) -> None:
        """End the connection; leases end with it. What is not known to be written is written now."""
        self._line.close()
        for task in self._tasks:
            task.cancel()

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
        if self._line.ready:
            asked.taking, asked.sent = asyncio.get_running_loop().create_future(), False
        elif self._connecting is None or self._connecting.done():
            self._connecting = self._begin(self._connect())

    async def _connect(self) -> None:
        try:
            await self._line.connect()
        except AskedInVainOfPostgres as error:
            log.warning("no leases: %s", error)

    async def _take(self, test: bytes, asked: _Asked) -> None:
        asked.not_before = time.monotonic() + AFTER_TAKING_SECONDS
        loads, sessions = self._known()
        versions = (str(loads).encode(), str(sessions).encode())
        try:
            rows = await self._line.order(_LEASE, [self._space.encode(), self._lock, *versions, test])
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
            await self._line.order(_GIVE_BACK, [lease.test, self._lock])
        except AskedInVainOfPostgres as error:
            log.info("a lease went with its connection: %s", error)

    def _lost(self) -> None:
        """The connection is gone, and every lease with it."""
        for lease in self._held.values():
            lease.ended = True
        self._held.clear()

    def _begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _statements(answers: Sequence[Answer]) -> list[Statement]:
    """Rows of the journal, and how far their entries are used up."""
    rows: list[Statement] = [
        (_ROW, [one.number, one.lease.test, one.entry_id.encode(), *one.request]) for one in answers
    ]
    last = {(one.lease.test, one.lease.since, one.entry_id): one.used for one in answers}
    used: list[Statement] = [
        (_USED, [test, since, entry_id.encode(), str(count).encode()])
        for (test, since, entry_id), count in last.items()
    ]
    return [*rows, *used]


def _counts(text: str | None) -> dict[str, int]:
    return json.loads(text or "{}")
