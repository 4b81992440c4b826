"""Cancel and resume runs. Each is idempotent, and tells what it did or would do."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from passgrid.warehouse.submission import WORK_CHANNEL


@dataclass(frozen=True, slots=True)
class Controlled:
    """What cancelling or resuming did, or would do in a dry run."""

    run_id: str
    attempts: int
    """Attempts taken out of the queue, or put back into it."""
    running: int
    """Attempts that workers hold now; they end by themselves."""


_AGAIN = "state = 'done' AND outcome IN ('cancelled', 'infra_error')"
"""What may be asked for again."""

_QUEUE_AGAIN = (
    "UPDATE attempts SET state = 'queued', outcome = NULL, outcome_detail = NULL, reason = NULL, "  # noqa: S608
    "valid = NULL, passed = NULL, digest = NULL, finished_at = NULL, worker = NULL, "
    f"xid = pg_current_xact_id() WHERE run_id = :run AND {_AGAIN}"
)


def cancel(engine: sa.Engine, run_id: str, *, dry_run: bool = False) -> Controlled:
    """Take what is queued out of the queue at once; what runs in replay ends within its batch."""
    with engine.begin() as connection:
        running = _count(connection, run_id, "state = 'running'")
        if dry_run:
            return Controlled(run_id, _count(connection, run_id, "state = 'queued'"), running)
        cancelled = connection.execute(
            sa.text(
                "UPDATE attempts SET state = 'done', outcome = 'cancelled', outcome_detail = '', "
                "reason = 'the run was cancelled', valid = false, passed = false, "
                "finished_at = clock_timestamp(), xid = pg_current_xact_id() "
                "WHERE run_id = :run AND state = 'queued'"
            ),
            {"run": run_id},
        ).rowcount
        connection.execute(
            sa.text(
                "UPDATE runs SET state = 'cancelled', finished_at = clock_timestamp(), xid = pg_current_xact_id() "
                "WHERE run_id = :run AND state <> 'cancelled'"
            ),
            {"run": run_id},
        )
    return Controlled(run_id, cancelled, running)


def resume(engine: sa.Engine, run_id: str, *, dry_run: bool = False) -> Controlled:
    """Queue again what was cancelled or ended in an infrastructure error; verdicts are never asked for again."""
    with engine.begin() as connection:
        running = _count(connection, run_id, "state = 'running'")
        if dry_run:
            return Controlled(run_id, _count(connection, run_id, _AGAIN), running)
        for table in ("tool_calls", "model_calls", "checks", "transcripts"):
            connection.execute(
                sa.text(
                    f"DELETE FROM {table} USING attempts "  # noqa: S608 - names from the line above
                    f"WHERE attempt_key = attempts.key AND run_id = :run AND {_AGAIN}"
                ),
                {"run": run_id},
            )
        resumed = connection.execute(sa.text(_QUEUE_AGAIN), {"run": run_id}).rowcount
        connection.execute(
            sa.text(
                "UPDATE runs SET state = CASE WHEN :n > 0 THEN 'active' ELSE state END, "
                "finished_at = CASE WHEN :n > 0 THEN NULL ELSE finished_at END, xid = pg_current_xact_id() "
                "WHERE run_id = :run"
            ),
            {"run": run_id, "n": resumed},
        )
        connection.execute(sa.text(f"NOTIFY {WORK_CHANNEL}"))
    return Controlled(run_id, resumed, running)


def _count(connection: sa.Connection, run_id: str, condition: str) -> int:
    return connection.execute(
        sa.text(f"SELECT count(*) FROM attempts WHERE run_id = :run AND {condition}"),  # noqa: S608 - constants above
        {"run": run_id},
    ).scalar_one()
