"""Content-addressed blobs: what travels from the author's disk to every worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sqlalchemy as sa
import zstandard

from passgrid.identity import content_hash
from passgrid.warehouse.copying import copy_rows

LEVEL = 3

BLOBS_LOCK = 7071970
"""Key of the advisory lock that is shared by all who store blobs, and taken alone to delete some."""


def compress(data: bytes) -> bytes:
    """zstd, as blobs and transcripts are stored."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(data: bytes) -> bytes:
    """What `compress` made small."""
    return zstandard.ZstdDecompressor().decompress(data)


def missing(connection: sa.Connection, hashes: Iterable[str]) -> set[str]:
    """Which of these blobs are not there yet."""
    wanted = set(hashes)
    there = connection.execute(sa.text("SELECT hash FROM blobs WHERE hash = ANY(:hashes)"), {"hashes": list(wanted)})
    return wanted - {row.hash for row in there}


def store(connection: sa.Connection, blobs: Mapping[str, bytes]) -> None:
    """Store what is not there yet, in the caller's transaction; two may store the same blob at once.

    Until that transaction ends no blob is deleted (`blob_sweep`): also what was there already stays.
    """
    connection.execute(sa.text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": BLOBS_LOCK})
    new = missing(connection, blobs)
    if not new:
        return
    connection.exec_driver_sql("CREATE TEMP TABLE new_blobs (hash text, body bytea) ON COMMIT DROP")
    copy_rows(connection, "new_blobs", ("hash", "body"), ((name, compress(blobs[name])) for name in sorted(new)))
    connection.exec_driver_sql(
        "INSERT INTO blobs SELECT hash, body FROM new_blobs ORDER BY hash ON CONFLICT DO NOTHING"
    )


def load(connection: sa.Connection, hashes: Iterable[str]) -> dict[str, bytes]:
    """The bytes of those of these blobs that are there. Raises `LookupError` for one without its promised content."""
    wanted = set(hashes)
    if not wanted:
        return {}
    rows = connection.execute(
        sa.text("SELECT hash, body FROM blobs WHERE hash = ANY(:hashes)"), {"hashes": list(wanted)}
    )
    found = {row.hash: decompress(row.body) for row in rows}
    for name, data in found.items():
        if content_hash(data) != name:
            raise LookupError(f"blob {name} does not have the content its name promises")
    return found
