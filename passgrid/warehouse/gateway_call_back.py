"""Get back what gateway processes hold leases of, before somebody else claims or changes it.

Who holds a lease is told over a channel and gives it back within a moment. Whoever does not, because it is stopped or
cut off, loses its connection to Postgres and its lease with it.
"""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from passgrid.warehouse.pipelined import Pipelined

EVERYTHING = ""
"""What is said over the channel; else numbers of tests."""
PATIENCE_SECONDS = 3.0
_SAID_AGAIN_SECONDS = 0.05
_SHORTEST, _LONGEST = 0.0005, 0.02

_SQL = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid() "
    "AND CASE WHEN CAST({test} AS text) = '' "
    "THEN classid = 7002 AND CAST(objid AS bigint) = CAST({lock} AS bigint) AND mode = 'ShareLock' "
    "ELSE classid = 7001 AND CAST(objid AS bigint) = gateway_lock(CAST(nullif({test}, '') AS bigint)) "
    "AND mode = 'ExclusiveLock' END"
)
"""Ends the connections that hold a test, or everything."""
NOTIFY = b"notify"
HANG_UP = b"hang_up"
STATEMENTS = {
    NOTIFY: b"SELECT pg_notify($1, $2)",
    HANG_UP: _SQL.format(test="$1", lock="$2").encode(),
}
_HANG_UP = sa.text(_SQL.format(test=":test", lock=":lock"))


def space_lock(space: str) -> int:
    """The number of a space's advisory lock: a positive one of 31 bits."""
    return zlib.crc32(space.encode()) & 0x7FFFFFFF


def channel_of(space: str) -> str:
    """Where the processes of a space are told what to give back."""
    return f"passgrid_gateway_{space_lock(space)}"


class CallBack:
    """One attempt after the other to have what somebody holds: wait between them."""

    def __init__(self, line: Pipelined, space: str) -> None:
        self._line = line
        self._space = space
        self._pauses = _pauses()
        self._test: str | None = None
        self._begun = self._said = 0.0

    async def wait(self, test: str = EVERYTHING) -> None:
        """Ask for a test, or for everything, and wait a moment."""
        now = time.monotonic()
        if test != self._test:
            self._test, self._begun, self._said = test, now, 0.0
        elif now - self._begun > PATIENCE_SECONDS:
            await self._line.ask(HANG_UP, [test.encode(), str(space_lock(self._space)).encode()])
        if now - self._said > _SAID_AGAIN_SECONDS:
            self._said = now
            await self._line.ask(NOTIFY, [channel_of(self._space).encode(), test.encode()])
        await asyncio.sleep(next(self._pauses))


def call_everything_back(connection: sa.Connection, space: str) -> None:
    """Nobody answers on his own in a space until the transaction ends, which begins here."""
    query = sa.text("SELECT pg_try_advisory_xact_lock(7002, :lock)")
    for pause in _pauses_with_patience(connection, space, []):
        if connection.execute(query, {"lock": space_lock(space)}).scalar_one():
            return
        connection.rollback()
        _say(connection, space, EVERYTHING)
        time.sleep(pause)


def call_tests_back(connection: sa.Connection, space: str, test_id: str) -> list[int]:
    """The same for one test, on every mount where it is known; returns their numbers."""
    named = {"space": space, "test": test_id}
    query = sa.text(
        "SELECT id, pg_try_advisory_xact_lock(7001, gateway_lock(id)) AS ours FROM gateway_tests "
        "WHERE space = :space AND test_id = :test"
    )
    held: list[int] = []
    for pause in _pauses_with_patience(connection, space, held):
        rows = connection.execute(query, named).all()
        held[:] = (row.id for row in rows if not row.ours)
        if not held:
            return [row.id for row in rows]
        connection.rollback()
        _say(connection, space, " ".join(str(test) for test in held[:500]))
        time.sleep(pause)
    raise AssertionError("the pauses never end")


def _pauses_with_patience(connection: sa.Connection, space: str, held: Sequence[int]) -> Iterator[float]:
    """Pauses between attempts; whoever does not give back what is `held` by then is hung up on."""
    begun = time.monotonic()
    for pause in _pauses():
        if time.monotonic() - begun > PATIENCE_SECONDS:
            _hang_up(connection, space, held)
        yield pause


def _say(connection: sa.Connection, space: str, what: str) -> None:
    connection.execute(sa.text("SELECT pg_notify(:channel, :what)"), {"channel": channel_of(space), "what": what})
    connection.commit()


def _hang_up(connection: sa.Connection, space: str, tests: Sequence[int]) -> None:
    for test in tests or (EVERYTHING,):
        connection.execute(_HANG_UP, {"test": str(test), "lock": space_lock(space)})


def _pauses() -> Iterator[float]:
    pause = _SHORTEST
    while True:
        yield pause
        pause = min(pause * 1.5, _LONGEST)
