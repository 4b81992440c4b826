"""Who runs which attempt: claims with leases and fencing tokens, and what happens to those that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from passgrid.warehouse.intents import close_tries

LOSSES_BEFORE_ALONE = 2
"""After so many lost workers, whoever's fault it was, an attempt runs in a process of its own."""
LONE_LOSSES_BEFORE_GIVING_UP = 3
"""An attempt that took this many workers with it with nothing else beside it is not tried again."""
LOSSES_BEFORE_GIVING_UP = 25
"""Whoever's fault they were: a run always completes."""
BACKOFF_SECONDS = 1.0
"""Before the second try; twice as long before each further one, give or take half."""
LONGEST_BACKOFF_SECONDS = 300.0

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
    """Whether it may share its process with others."""
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


def give_up(connection: sa.Connection, claims: Sequence[Claim], *, its_own_doing: bool) -> None:
    """End the leases of these claims now: their process is gone. The next reaping counts the losses.

    its_own_doing: the process was an attempt's own, and ended by itself.
    """
    connection.execute(
        sa.text(
            "UPDATE attempts SET lease_until = CASE WHEN :own THEN '-infinity' "
            "ELSE clock_timestamp() - interval '1 s' END "
            "FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS mine(key, fence) "
            "WHERE attempts.key = mine.key AND attempts.fence = mine.fence AND state = 'running'"
        ),
        {
            "keys": [one.key for one in claims],
            "fences": [one.fence for one in claims],
            "own": its_own_doing,
        },
    )
    connection.commit()


def hand_back(connection: sa.Connection, claims: Sequence[Claim], reason: str, *, alone: bool = False) -> set[int]:
    """Put unfinished claims back in the queue; their tries say why. Returns the keys that were still held.

    alone: from now on they run in a process of their own.
    """
    rows = connection.execute(
        _HAND_BACK,
        {
            "keys": [one.key for one in claims],
            "fences": [one.fence for one in claims],
            "reason": reason,
            "alone": alone,
        },
    )
    keys = {row.key for row in rows}
    close_tries(connection, [(one.key, one.fence) for one in claims if one.key in keys])
    connection.commit()
    return keys


_HAND_BACK = sa.text("""
WITH released AS (
    UPDATE attempts SET state = 'queued', worker = NULL, lease_until = NULL, alone = alone OR :alone,
        xid = pg_current_xact_id()
    FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS mine(key, fence)
    WHERE attempts.key = mine.key AND attempts.fence = mine.fence AND state = 'running'
    RETURNING attempts.key, attempts.fence
), logged AS (
    UPDATE tries SET ended_at = clock_timestamp(), reason = 'handed_back', detail = :reason
    FROM released WHERE tries.attempt_key = released.key AND tries.fence = released.fence
)
SELECT key FROM released
""")


@dataclass(frozen=True, slots=True)
class FailedTry:
    """A try that failed for a reason that may pass."""

    claim: Claim
    detail: str
    """The kind and the message."""


def try_again(connection: sa.Connection, failed: Sequence[FailedTry]) -> set[int]:
    """Queue failed tries again, later each time.

    Returns the keys that will be tried again; the others have had all their tries, and their result is final.
    """
    rows = connection.execute(
        _TRY_AGAIN,
        {
            "keys": [one.claim.key for one in failed],
            "fences": [one.claim.fence for one in failed],
            "details": [one.detail.replace("\0", "\ufffd")[:500] for one in failed],
            "backoff": BACKOFF_SECONDS,
            "longest": LONGEST_BACKOFF_SECONDS,
        },
    )
    keys = {row.key for row in rows}
    close_tries(connection, [(one.claim.key, one.claim.fence) for one in failed if one.claim.key in keys])
    connection.commit()
    return keys


_TRY_AGAIN = sa.text("""
WITH again AS (
    UPDATE attempts SET
        state = CASE runs.state WHEN 'active' THEN 'queued' ELSE 'paused' END,
        failures = failures + 1, worker = NULL, lease_until = NULL, xid = pg_current_xact_id(),
        not_before = clock_timestamp() + make_interval(
            secs => least(:longest, :backoff * power(2, least(failures, 20))) * (0.5 + random())
        )
    FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS mine(key, fence), runs
    WHERE attempts.key = mine.key AND attempts.fence = mine.fence AND attempts.state = 'running'
        AND runs.run_id = attempts.run_id AND failures + 1 < runs.max_tries AND attempts.stop_reason IS NULL
    RETURNING attempts.key, attempts.fence
), logged AS (
    UPDATE tries SET ended_at = clock_timestamp(), reason = 'failed', detail = given.detail
    FROM again JOIN unnest(cast(:keys AS bigint[]), cast(:details AS text[])) AS given(key, detail) USING (key)
    WHERE tries.attempt_key = again.key AND tries.fence = again.fence
)
SELECT key FROM again
""")

# Only what an attempt does to a process of its own is certainly its own doing. A live one has a host that tells of it
# by ending the lease; where the lease ran out the host is gone as well, and nobody knows who took whom along.
_REAP = sa.text("""
WITH lost AS (
    SELECT key, fence, losses + 1 AS losses, worker,
        lone_losses + CASE WHEN alone AND (queue = 'replay' OR lease_until = '-infinity') THEN 1 ELSE 0 END
            AS lone_losses
    FROM attempts WHERE state = 'running' AND lease_until < clock_timestamp()
    FOR UPDATE SKIP LOCKED
), judged AS (
    SELECT *, lone_losses >= :most OR losses >= :most_in_all AS given_up FROM lost
), freed AS (
    UPDATE attempts SET
        losses = judged.losses, lone_losses = judged.lone_losses, alone = alone OR judged.losses >= :alone_after,
        state = CASE WHEN judged.given_up THEN 'done' WHEN runs.state = 'active' THEN 'queued'
            WHEN runs.state = 'cancelled' THEN 'done' ELSE 'paused' END,
        outcome = CASE WHEN judged.given_up THEN 'infra_error'
            WHEN runs.state = 'cancelled' THEN 'cancelled' END,
        outcome_detail = CASE WHEN judged.given_up THEN 'worker_lost'
            WHEN runs.state = 'cancelled' THEN '' END,
        reason = CASE WHEN judged.given_up
            THEN 'lost its worker ' || judged.losses || ' times, ' || judged.lone_losses || ' times in one of its own'
            WHEN runs.state = 'cancelled' THEN 'the run was cancelled' END,
        valid = CASE WHEN judged.given_up OR runs.state = 'cancelled' THEN false END,
        passed = CASE WHEN judged.given_up OR runs.state = 'cancelled' THEN false END,
        finished_at = CASE WHEN judged.given_up OR runs.state = 'cancelled' THEN clock_timestamp() END,
        worker = NULL, lease_until = NULL, xid = pg_current_xact_id()
    FROM judged, runs WHERE attempts.key = judged.key AND runs.run_id = attempts.run_id
    RETURNING attempts.key, judged.fence, judged.worker
), logged AS (
    UPDATE tries SET ended_at = clock_timestamp(), reason = 'worker_lost', detail = 'the lease ran out'
    FROM freed WHERE tries.attempt_key = freed.key AND tries.fence = freed.fence
)
SELECT key, fence, worker FROM freed
""")


def reap(connection: sa.Connection) -> int:
    """Queue attempts again whose lease ran out; one that was lost alone three times ends as an infrastructure error."""
    most = {
        "most": LONE_LOSSES_BEFORE_GIVING_UP,
        "most_in_all": LOSSES_BEFORE_GIVING_UP,
        "alone_after": LOSSES_BEFORE_ALONE,
    }
    rows = connection.execute(_REAP, most).all()
    close_tries(connection, [(row.key, row.fence) for row in rows])
    connection.commit()
    return len(rows)


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
