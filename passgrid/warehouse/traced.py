"""What traces say about runs and attempts, from Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from passgrid.tracing.spans import TracedAttempt, TracedRun

_ATTEMPTS = sa.text("""
SELECT a.key, a.run_id, a.attempt_id, a.sample, c.suite, c.scenario, c.model, c.prompt,
    extract(epoch FROM coalesce(a.finished_at, clock_timestamp()))::float8 AS end_s
FROM attempts a JOIN cells c ON c.key = a.cell_key WHERE a.key = ANY(:keys)
""")

_ENDED = sa.text("""
SELECT run_id, label, mode, state, finished_at, extract(epoch FROM created_at)::float8 AS start_s,
    extract(epoch FROM finished_at)::float8 AS end_s
FROM runs WHERE finished_at > :since ORDER BY finished_at
""")


def traced_attempts(connection: sa.Connection, tries: Sequence[tuple[int, int]]) -> dict[int, TracedAttempt]:
    """Attempts by key, for these pairs of key and fence; those that were deleted meanwhile are left out."""
    fences = dict(tries)
    rows = connection.execute(_ATTEMPTS, {"keys": list(fences)}).all()
    connection.rollback()
    return {
        row.key: TracedAttempt(
            run_id=row.run_id,
            attempt_id=row.attempt_id,
            try_=fences[row.key],
            sample=row.sample,
            suite=row.suite,
            scenario=row.scenario,
            model=row.model,
            prompt=row.prompt,
            end_s=row.end_s,
        )
        for row in rows
    }


def ended_runs(connection: sa.Connection, since: datetime) -> list[tuple[datetime, TracedRun]]:
    """Runs that ended after `since`, in this order, each with when."""
    return [
        (row.finished_at, TracedRun(row.run_id, row.label, row.mode, row.state, row.start_s, row.end_s))
        for row in connection.execute(_ENDED, {"since": since})
    ]


def database_time(connection: sa.Connection) -> datetime:
    """Now, as the database has it."""
    return connection.execute(sa.text("SELECT clock_timestamp()")).scalar_one()
