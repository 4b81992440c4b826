"""Tries that failed for a reason that may pass: queued again, later each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from passgrid.warehouse.claims import Claim
from passgrid.warehouse.intents import close_tries
from passgrid.warehouse.teardowns import want_teardowns

BACKOFF_SECONDS = 1.0
"""Before the second try; twice as long before each further one, give or take half."""
LONGEST_BACKOFF_SECONDS = 300.0


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
    ended = [(one.claim.key, one.claim.fence) for one in failed if one.claim.key in keys]
    close_tries(connection, ended)
    want_teardowns(connection, ended)
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
