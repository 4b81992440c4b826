"""Who runs which attempt: claims with leases and fencing tokens, and what happens to those that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

LOSSES_BEFORE_GIVING_UP = 3
"""An attempt that took this many workers with it is not tried again."""


SMALLEST_BATCH = 3
"""Where a rest is shared: two commits for fewer attempts than this cost more than an even end saves."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt this process may run, until its lease ends or somebody claims it anew."""

    key: int
    fence: int
    """Must still be the row's when the result is written."""
    run_id: str
    attempt_id: str
    sample: int
    cassette_hash: str | None
    order_hash: str
    record: bool


_CLAIM = sa.text("""
WITH picked AS (
    SELECT key FROM attempts
    WHERE state = 'queued' AND queue = :queue
    ORDER BY priority DESC, key
    LIMIT least(:most, greatest(:smallest, (
        SELECT count(*) FROM (SELECT 1 FROM attempts WHERE state = 'queued' AND queue = :queue LIMIT :most * :share) q
    ) / :share))
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE attempts SET state = 'running', fence = fence + 1, worker = :worker, started_at = clock_timestamp(),
        lease_until = clock_timestamp() + make_interval(secs => :lease), xid = pg_current_xact_id()
    FROM picked WHERE attempts.key = picked.key
    RETURNING attempts.*
), logged AS (
    INSERT INTO tries (attempt_key, fence, worker) SELECT key, fence, :worker FROM claimed
)
SELECT claimed.key, claimed.fence, claimed.run_id, claimed.attempt_id, claimed.sample, claimed.cassette_hash,
    cells.order_hash, runs.record
FROM claimed JOIN cells ON cells.key = claimed.cell_key JOIN runs ON runs.run_id = claimed.run_id
ORDER BY claimed.priority DESC, claimed.key
""")


def claim(
    connection: sa.Connection, *, queue: str, worker: str, most: int, lease_s: float, share: int = 1
) -> list[Claim]:
    """Claim the most urgent queued attempts and commit.

    Args:
        connection: outside a transaction.
        queue: `replay` or `live`.
        worker: who claims, for people.
        most: at most so many.
        lease_s: seconds until the claim is void unless renewed.
        share: leave `1 - 1/share` of a small rest to others, so that all processes end at about the same time.
    """
    rows = connection.execute(
        _CLAIM,
        {
            "queue": queue,
            "worker": worker,
            "most": most,
            "lease": lease_s,
            "share": max(1, share),
            "smallest": min(SMALLEST_BATCH, most),
        },
    )
    claims = [Claim(*row) for row in rows]
    connection.commit()
    return claims


def renew(connection: sa.Connection, claims: Sequence[Claim], lease_s: float) -> set[int]:
    """Push the leases of these claims; returns the keys that are still ours. Changes nothing an export would see."""
    rows = connection.execute(
        sa.text(
            "UPDATE attempts SET lease_until = clock_timestamp() + make_interval(secs => :lease) "
            "FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS mine(key, fence) "
            "WHERE attempts.key = mine.key AND attempts.fence = mine.fence AND state = 'running' "
            "RETURNING attempts.key"
        ),
        {"keys": [one.key for one in claims], "fences": [one.fence for one in claims], "lease": lease_s},
    )
    kept = {row.key for row in rows}
    connection.commit()
    return kept


def hand_back(connection: sa.Connection, claims: Sequence[Claim], reason: str) -> None:
    """Put unstarted or unfinished claims back in the queue; their tries say why."""
    connection.execute(
        _RELEASE, {"keys": [one.key for one in claims], "fences": [one.fence for one in claims], "reason": reason}
    )
    connection.commit()


_RELEASE = sa.text("""
WITH released AS (
    UPDATE attempts SET state = 'queued', worker = NULL, lease_until = NULL, xid = pg_current_xact_id()
    FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS mine(key, fence)
    WHERE attempts.key = mine.key AND attempts.fence = mine.fence AND state = 'running'
    RETURNING attempts.key, attempts.fence
)
UPDATE tries SET ended_at = clock_timestamp(), reason = :reason
FROM released WHERE tries.attempt_key = released.key AND tries.fence = released.fence
""")

_REAP = sa.text("""
WITH lost AS (
    SELECT key, fence, (SELECT count(*) FROM tries WHERE attempt_key = key AND reason = 'worker_lost') + 1 AS losses
    FROM attempts WHERE state = 'running' AND lease_until < clock_timestamp()
    FOR UPDATE SKIP LOCKED
), freed AS (
    UPDATE attempts SET
        state = CASE WHEN losses >= :most THEN 'done' ELSE 'queued' END,
        outcome = CASE WHEN losses >= :most THEN 'infra_error' END,
        outcome_detail = CASE WHEN losses >= :most THEN 'worker_lost' END,
        reason = CASE WHEN losses >= :most THEN 'lost its worker ' || losses || ' times' END,
        valid = CASE WHEN losses >= :most THEN false END,
        passed = CASE WHEN losses >= :most THEN false END,
        finished_at = CASE WHEN losses >= :most THEN clock_timestamp() END,
        worker = NULL, lease_until = NULL, xid = pg_current_xact_id()
    FROM lost WHERE attempts.key = lost.key
    RETURNING attempts.key, lost.fence, attempts.state
), logged AS (
    UPDATE tries SET ended_at = clock_timestamp(), reason = 'worker_lost'
    FROM freed WHERE tries.attempt_key = freed.key AND tries.fence = freed.fence
)
SELECT count(*) FROM freed
""")


def reap(connection: sa.Connection) -> int:
    """Queue attempts again whose lease ran out; one that was lost three times ends as an infrastructure error."""
    freed = connection.execute(_REAP, {"most": LOSSES_BEFORE_GIVING_UP}).scalar_one()
    connection.commit()
    return freed


def queued(connection: sa.Connection, queue: str, most: int) -> int:
    """How many attempts wait, counted up to `most`."""
    count = connection.execute(
        sa.text(
            "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE state = 'queued' AND queue = :queue LIMIT :most) q"
        ),
        {"queue": queue, "most": most},
    ).scalar_one()
    connection.rollback()
    return count
