"""Delete blobs that nothing refers to any more, while others submit, upload and write results.

Who stores blobs holds an advisory lock, shared, until it commits (`blobs.store`): it may find a blob there and refer to
it without writing it. The sweep first looks at everything without any lock, and so knows what is not referred to. Then
it takes the lock alone, for one short batch at a time, looks at what was written since its first look, and deletes what
is still not referred to. Whoever comes later finds the blob missing and writes it. So no reference is ever left without
its blob, whatever the clocks say; an age below which blobs are spared would have to be guessed.

A blob is referred to by a column of `REFERENCES`, by an uploaded suite's manifest, or by another blob that is: orders
and recordings name others by their hashes. Anything in them that looks like a hash counts as one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from passgrid.warehouse.blobs import BLOBS_LOCK, decompress

REFERENCES = {
    "cells": ("order_hash",),
    "attempts": ("cassette_hash", "surface_hash", "recording_hash", "evidence_hash"),
}
"""Columns that hold the hash of a blob. A test finds those that are missing here."""

BATCH = 200
"""Blobs deleted while nobody can store any."""
LOCK_TIMEOUT = "500ms"
"""How long others may have to wait behind us for one that stores for long."""
PATIENCE_SECONDS = 60.0
"""After so long without the lock the sweep gives up; the next one goes on."""

_HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep deleted, or would."""

    blobs: int
    bytes: int
    """As stored, compressed."""
    complete: bool = True
    """False: it could not get the lock for a minute, and left the rest to the next one."""


def sweep_blobs(engine: sa.Engine) -> Swept:
    """Delete what nothing refers to. Safe beside submissions, uploads and workers."""
    references = _References()
    with engine.connect() as connection:
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        references.read(connection)
        garbage = sorted(_stored(connection) - references.live)
        connection.rollback()
    count = size = 0
    for start in range(0, len(garbage), BATCH):
        deleted = _delete(engine, garbage[start : start + BATCH], references)
        if deleted is None:
            return Swept(count, size, complete=False)
        count += len(deleted)
        size += sum(deleted)
    return Swept(count, size)


def would_sweep(connection: sa.Connection, without_runs: Collection[str]) -> Swept:
    """What a sweep would delete if these runs were gone; `connection` is outside a transaction."""
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    references = _References(without_runs)
    references.read(connection)
    garbage = _stored(connection) - references.live
    size = connection.execute(
        sa.text("SELECT coalesce(sum(octet_length(body)), 0) FROM blobs WHERE hash = ANY(:hashes)"),
        {"hashes": list(garbage)},
    ).scalar_one()
    connection.rollback()
    return Swept(len(garbage), size)


class _References:
    """Everything that is referred to, brought up to date by reading what was written since the last time."""

    def __init__(self, without_runs: Collection[str] = ()) -> None:
        self.live: set[str] = set()
        self._since = "0"
        self._scanned: set[str] = set()
        self._without = list(without_runs)

    def read(self, connection: sa.Connection) -> None:
        """Add what was written since the last time, up to this statement's snapshot."""
        until: str = connection.execute(
            sa.text("SELECT cast(pg_snapshot_xmin(pg_current_snapshot()) AS text)")
        ).scalar_one()
        for table, columns in REFERENCES.items():
            for column in columns:
                found = self._column(connection, table, column)
                self.live |= found
                if column != "surface_hash":  # lists of tools: they name no blobs, and there are many
                    self._scan(connection, found)
        for manifest in connection.execute(sa.text("SELECT cast(manifest AS text) FROM suites")).scalars():
            named = _hashes(manifest.encode())
            self.live |= named
            self._scan(connection, named)
        self._since = until

    def _column(self, connection: sa.Connection, table: str, column: str) -> set[str]:
        rows = connection.execute(
            sa.text(
                f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL "  # noqa: S608 - from REFERENCES
                "AND xid >= cast(cast(:since AS text) AS xid8) AND run_id <> ALL(:without)"
            ),
            {"since": self._since, "without": self._without},
        )
        return set(rows.scalars())

    def _scan(self, connection: sa.Connection, hashes: set[str]) -> None:
        """Look into blobs for the hashes of others."""
        new = sorted(hashes - self._scanned)
        self._scanned.update(new)
        for start in range(0, len(new), 1000):
            bodies = connection.execute(
                sa.text("SELECT body FROM blobs WHERE hash = ANY(:hashes)"), {"hashes": new[start : start + 1000]}
            ).scalars()
            for body in bodies:
                self.live |= _hashes(decompress(body))


def _hashes(text: bytes) -> set[str]:
    return {found.decode() for found in _HASH.findall(text)}


def _stored(connection: sa.Connection) -> set[str]:
    return set(connection.execute(sa.text("SELECT hash FROM blobs")).scalars())


def _delete(engine: sa.Engine, hashes: Iterable[str], references: _References) -> list[int] | None:
    """Delete those of these that are still not referred to; returns their sizes. None: the lock was not to be had."""
    for _ in _tries():
        with engine.connect() as connection:
            references.read(connection)  # most of it before anybody has to wait for us
        try:
            with engine.begin() as connection:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": BLOBS_LOCK})
                references.read(connection)
                rows = connection.execute(
                    sa.text("DELETE FROM blobs WHERE hash = ANY(:hashes) RETURNING octet_length(body)"),
                    {"hashes": [name for name in hashes if name not in references.live]},
                )
                return list(rows.scalars())
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != "55P03":  # lock not available
                raise
    return None


def _tries() -> Iterator[None]:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        yield
        time.sleep(0.5)
