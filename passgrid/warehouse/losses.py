"""Claims that end without a result: handed back by who held them, or lost with their worker."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from passgrid.warehouse.claims import Claim
from passgrid.warehouse.intents import close_tries
from passgrid.warehouse.teardowns import want_teardowns

LOSSES_BEFORE_ALONE = 2
"""After so many lost workers, whoever's fault it was, an attempt runs in a process of its own."""
LONE_LOSSES_BEFORE_GIVING_UP = 3
"""An attempt that took this many workers with it with nothing else beside it is not tried again."""
LOSSES_BEFORE_GIVING_UP = 25
"""Whoever's fault they were: a run always completes."""


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
    ended = [(one.key, one.fence) for one in claims if one.key in keys]
    close_tries(connection, ended)
    want_teardowns(connection, ended)
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
    ended = [(row.key, row.fence) for row in rows]
    close_tries(connection, ended)
    want_teardowns(connection, ended)
    connection.commit()
    return len(rows)
