"""What lost tries made and nobody took away: wanted here when a try is lost, claimed by a live worker, done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.scoring.afterwards import Leftover

MOST_TRIES = 5
RETRY_SECONDS = 10
"""A server that does not answer is asked again after so long, longer each time."""
LEASE_SECONDS = 60
"""After so long a teardown counts as lost with its worker, and is due again."""


@dataclass(frozen=True, slots=True)
class Teardown:
    """One lost try, and what is known of what it made."""

    key: int
    fence: int
    attempt_id: str
    run_id: str
    order_hash: str
    made: tuple[tuple[str, str], ...]
    """Kinds and ids its settled calls made; an unsettled one may have made more, which its namespace tells."""


def want_teardowns(connection: sa.Connection, ended: Sequence[tuple[int, int]]) -> None:
    """Note tries, by key and fence, that made writing calls and ended without a result. In the caller's transaction."""
    if ended:
        connection.execute(
            sa.text(
                "INSERT INTO teardowns (attempt_key, fence) SELECT DISTINCT attempt_key, intents.fence FROM intents "
                "JOIN unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS ended(key, fence) "
                "ON attempt_key = ended.key AND intents.fence = ended.fence WHERE kind = 'tool' "
                "ON CONFLICT DO NOTHING"
            ),
            {"keys": [key for key, _ in ended], "fences": [fence for _, fence in ended]},
        )


_CLAIM = sa.text("""
WITH due AS (
    SELECT attempt_key, fence FROM teardowns WHERE state = 'due' AND not_before <= clock_timestamp()
    ORDER BY not_before LIMIT :most FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE teardowns SET tries = tries + 1, worker = :worker,
        not_before = clock_timestamp() + make_interval(secs => :lease)
    FROM due WHERE teardowns.attempt_key = due.attempt_key AND teardowns.fence = due.fence
    RETURNING teardowns.attempt_key, teardowns.fence
)
SELECT claimed.attempt_key AS key, claimed.fence, attempts.attempt_id, attempts.run_id, cells.order_hash,
    (SELECT coalesce(json_agg(made ORDER BY n), '[]') FROM intents
     WHERE intents.attempt_key = claimed.attempt_key AND intents.fence = claimed.fence AND made IS NOT NULL) AS made
FROM claimed JOIN attempts ON attempts.key = claimed.attempt_key JOIN cells ON cells.key = attempts.cell_key
""")


def claim_teardowns(connection: sa.Connection, worker: str, most: int = 4) -> list[Teardown]:
    """Teardowns that are due, for this worker for a while."""
    rows = connection.execute(_CLAIM, {"worker": worker, "most": most, "lease": LEASE_SECONDS}).all()
    connection.commit()
    return [Teardown(row.key, row.fence, row.attempt_id, row.run_id, row.order_hash, _pairs(row.made)) for row in rows]


def _pairs(made: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((kind, item) for text in made for kind, item in orjson.loads(text))


def end_teardown(connection: sa.Connection, one: Teardown, removed: int, left: Sequence[Leftover]) -> None:
    """Write what came of it."""
    rows = [{"kind": leftover.kind, "id": leftover.id, "reason": leftover.reason} for leftover in left]
    _write(connection, one, "state = 'done', removed = :removed, leftovers = cast(:left AS jsonb), detail = ''", {
        "removed": removed, "left": orjson.dumps(rows).decode(),
    })  # fmt: skip


def put_off_teardown(connection: sa.Connection, one: Teardown, why: str) -> None:
    """It could not be done now: due again later, until it was tried often enough."""
    _write(
        connection, one,
        f"state = CASE WHEN tries >= {MOST_TRIES} THEN 'failed' ELSE 'due' END, detail = :why, "
        f"not_before = clock_timestamp() + make_interval(secs => {RETRY_SECONDS} * tries)",
        {"why": why[:500]},
    )  # fmt: skip


def _write(connection: sa.Connection, one: Teardown, change: str, values: dict[str, Any]) -> None:
    connection.execute(
        sa.text(f"UPDATE teardowns SET {change} WHERE attempt_key = :key AND fence = :fence AND state = 'due'"),  # noqa: S608
        {"key": one.key, "fence": one.fence, **values},
    )
    connection.commit()
