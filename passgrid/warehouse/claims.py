"""Who runs which attempt: claims with leases and fencing tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

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
    alone: bool = False
    """Whether it has to run in a process of its own."""
    waits_for_providers: bool = True
    """Whether a rate limit is waited out; not where the attempt has one try only."""
    live: bool = False
    """Whether its calls have intents."""


_CLAIM = sa.text("""
WITH picked AS (
    SELECT key FROM attempts
    WHERE state = 'queued' AND queue = :queue AND alone = :alone
        AND (not_before IS NULL OR not_before <= clock_timestamp())
    ORDER BY priority DESC, key
    LIMIT least(:most, greatest(:smallest, (
        SELECT count(*) FROM (
            SELECT 1 FROM attempts WHERE state = 'queued' AND queue = :queue AND alone = :alone LIMIT :most * :share
        ) q
    ) / :share))
    FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE attempts SET state = 'running', fence = fence + 1, worker = :worker, started_at = clock_timestamp(),
        lease_until = clock_timestamp() + make_interval(secs => :lease), not_before = NULL, stop_reason = NULL,
        xid = pg_current_xact_id()
    FROM picked WHERE attempts.key = picked.key
    RETURNING attempts.*
), logged AS (
    INSERT INTO tries (attempt_key, fence, worker, alone) SELECT key, fence, :worker, alone FROM claimed
)
SELECT claimed.key, claimed.fence, claimed.run_id, claimed.attempt_id, claimed.sample, claimed.cassette_hash,
    cells.order_hash, runs.record, claimed.alone, runs.max_tries > 1, claimed.queue = 'live'
FROM claimed JOIN cells ON cells.key = claimed.cell_key JOIN runs ON runs.run_id = claimed.run_id
ORDER BY claimed.priority DESC, claimed.key
""")


def claim(
    connection: sa.Connection,
    *,
    queue: str,
    worker: str,
    most: int,
    lease_s: float,
    share: int = 1,
    alone: bool = False,
) -> list[Claim]:
    """Claim the most urgent queued attempts and commit.

    Args:
        connection: outside a transaction.
        queue: `replay` or `live`.
        worker: who claims: one process in one of its lives.
        most: at most so many.
        lease_s: seconds until the claim is void unless renewed.
        share: leave `1 - 1/share` of a small rest to others, so that all processes end at about the same time.
        alone: only attempts that have to run alone, instead of only those that need not.
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
            "alone": alone,
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


def of_cancelled_runs(connection: sa.Connection, claims: Sequence[Claim]) -> set[int]:
    """The keys of those whose runs were cancelled."""
    query = sa.text("SELECT run_id FROM runs WHERE run_id = ANY(:runs) AND state = 'cancelled'")
    runs = {row.run_id for row in connection.execute(query, {"runs": sorted({one.run_id for one in claims})})}
    connection.rollback()
    return {one.key for one in claims if one.run_id in runs}


def queued(connection: sa.Connection, queue: str, most: int) -> int:
    """How many attempts wait, counted up to `most`."""
    count = connection.execute(
        sa.text(
            "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE state = 'queued' AND queue = :queue "
            "AND (not_before IS NULL OR not_before <= clock_timestamp()) LIMIT :most) q"
        ),
        {"queue": queue, "most": most},
    ).scalar_one()
    connection.rollback()
    return count
