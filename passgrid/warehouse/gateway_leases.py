"""Tests that one gateway process answers for alone, as long as all of their calls come to it.

To ask Postgres for every claim costs a call more than everything else together, so a process that got several calls of
a test in a row takes a lease of it: an advisory lock of its connection. It then knows what is used up and decides
itself; Postgres only has to write it down, the rows of many calls at once. An answer is given when its row is written.
The lock goes with the connection, and a row that came over it is a claim nobody else can have made.
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
from passgrid.warehouse.gateway_call_back import EVERYTHING, channel_of, space_lock
from passgrid.warehouse.group_commit import GroupCommit
from passgrid.warehouse.pipelined import AskedInVainOfPostgres

log = logging.getLogger(__name__)

CALLS_IN_A_ROW = 3
"""Of one test, answered by this process, before it takes a lease."""
AFTER_CALL_BACK_SECONDS = 10.0
"""Not to be taken again, where somebody else asked for it."""
AFTER_TAKING_SECONDS = 1.0
MOST_LEASES = 200
AFTER_ALL_CALLED_BACK_SECONDS = 0.2
"""No lease is taken where somebody asked for all of them: who changes something has to get in between."""
_MOST_TESTS = 100_000

_ROW = b"row"
_FIND = b"find"
_LEASE = b"lease"
_GIVE_BACK = b"give_back"
_NUMBER = b"number"
_STATEMENTS = {
    _ROW: b"WITH claim AS (INSERT INTO gateway_used AS u (test, since, entry_id, used) VALUES ($2, $4, $3, $5) "
    b"ON CONFLICT (test, since, entry_id) DO UPDATE SET used = excluded.used) "
    b"INSERT INTO gateway_journal (lease_row, test, outcome, entry_id, context, tool, method, path, headers, body) "
    b"VALUES ($1, $2, 'answered', $3, $6, $7, $8, $9, $10, $11)",
    _FIND: b"SELECT 1 FROM gateway_journal WHERE test = $1 AND lease_row = $2",
    _LEASE: b"SELECT * FROM gateway_lease($1, $2, $3, $4, $5)",
    _GIVE_BACK: b"SELECT pg_advisory_unlock(7001, gateway_lock(test)), pg_advisory_unlock_shared(7002, $2) "
    b"FROM unnest($1::bigint[]) test",
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
        self._line = GroupCommit(
            conninfo, _STATEMENTS, channel=channel_of(space), notified=self._called_back, lost=self._lost
        )
        self._number = 0
        self._connections = 0
        self._not_before = 0.0
        self._connecting: asyncio.Task[None] | None = None
        self._held: OrderedDict[bytes, Lease] = OrderedDict()
        self._asked: OrderedDict[bytes, _Asked] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(
        self, test: bytes, version: int, candidates: Sequence[Candidate], request: Sequence[bytes | None]
    ) -> str | None:
        """The entry that answers a call, when its row is written; None: Postgres must be asked.

        `request`: context, tool, method, path, headers and body.
        """
        lease = self._held.get(test)
        entry_id = None if lease is None else lease.claim(version, candidates)
        if lease is None or entry_id is None:
            return None
        self._number += 1
        number = str(self._number).encode()
        used = str(lease.used[entry_id]).encode()
        try:
            written = await self._line.write(_ROW, [number, test, entry_id.encode(), lease.since, used, *request])
        except AskedInVainOfPostgres as error:
            log.warning("an answer may not have been written: %s", error)
            written = bool(await self._line.ask(_FIND, [test, number]))
        return entry_id if written else None

    async def settled(self, test: bytes) -> None:
        """Wait while a lease of the test is being taken."""
        while (taking := self._asked_of(test).taking) is not None:
            await asyncio.shield(taking)

    def before_asking(self, test: bytes) -> None:
        """Postgres is about to be asked for a test; say `after_asking` when it has told."""
        self._asked_of(test).under_way += 1

    def after_asking(self, test: bytes, *, answered: bool) -> None:
        """Postgres has told; `answered`: with an entry."""
        asked = self._asked_of(test)
        asked.under_way -= 1
        asked.in_a_row = asked.in_a_row + 1 if answered else 0
        due = time.monotonic() >= max(asked.not_before, self._not_before)
        if asked.taking is None and asked.in_a_row >= CALLS_IN_A_ROW and due:
            self._want(asked)
        if asked.taking is not None and asked.under_way == 0 and not asked.sent:
            asked.sent = True
            self._begin(self._take(test, asked))

    async def give_back(self, test: bytes) -> None:
        """Let others answer for a test."""
        lease = self._held.get(test)
        if lease is not None:
            await self._end([lease])

    async def give_all_back(self) -> None:
        """The same for every test."""
        self._not_before = time.monotonic() + AFTER_ALL_CALLED_BACK_SECONDS
        if self._held:
            await self._end(list(self._held.values()))

    def close(self) -> None:
        """End the connection; leases end with it."""
        self._line.close()
        for task in self._tasks:
            task.cancel()
        for asked in self._asked.values():
            if asked.taking is not None and not asked.taking.done():
                asked.taking.set_result(None)

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
            # Rows are numbered through, whichever process and connection writes them.
            self._number = _whole((await self._line.order(_NUMBER, []))[0][0]) << 32
        except AskedInVainOfPostgres as error:
            self._not_before = time.monotonic() + AFTER_TAKING_SECONDS
            log.warning("no leases: %s", error)

    async def _take(self, test: bytes, asked: _Asked) -> None:
        asked.not_before = time.monotonic() + AFTER_TAKING_SECONDS
        loads, sessions = self._known()
        versions = (str(loads).encode(), str(sessions).encode())
        connections = self._connections
        try:
            rows = await self._line.order(_LEASE, [self._space.encode(), self._lock, *versions, test])
            since, used = rows[0]
            if since is not None and connections == self._connections:
                self._hold(Lease(test, loads, since.encode(), _counts(used)))
        except AskedInVainOfPostgres as error:
            log.warning("no lease: %s", error)
        finally:
            if asked.taking is not None and not asked.taking.done():
                asked.taking.set_result(None)
            asked.taking, asked.in_a_row = None, 0

    def _hold(self, lease: Lease) -> None:
        self._held[lease.test] = lease
        if time.monotonic() < self._not_before:
            self._begin(self.give_all_back())
        elif len(self._held) > MOST_LEASES:
            self._begin(self._end([next(iter(self._held.values()))]))

    async def _end(self, leases: Sequence[Lease]) -> None:
        ending = [lease for lease in leases if self._held.get(lease.test) is lease]
        for lease in ending:
            del self._held[lease.test]
        if not ending:
            return
        try:
            await self._line.order(_GIVE_BACK, [_numbers(ending), self._lock])
        except AskedInVainOfPostgres as error:
            log.info("leases went with their connection: %s", error)

    def _called_back(self, said: str) -> None:
        """Somebody asks for tests, by their numbers, or for everything."""
        if said == EVERYTHING:
            self._begin(self.give_all_back())
            return
        asked = [lease for test in said.encode().split() if (lease := self._held.get(test)) is not None]
        for lease in asked:
            self._asked_of(lease.test).not_before = time.monotonic() + AFTER_CALL_BACK_SECONDS
        self._begin(self._end(asked))

    def _lost(self) -> None:
        """The connection is gone, and every lease with it."""
        self._connections += 1
        self._held.clear()

    def _begin(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _numbers(leases: Sequence[Lease]) -> bytes:
    return b"{" + b",".join(lease.test for lease in leases) + b"}"


def _counts(text: str | None) -> dict[str, int]:
    return json.loads(text or "{}")


def _whole(text: str | None) -> int:
    return int(text or 0)
