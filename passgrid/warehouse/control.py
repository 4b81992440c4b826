"""Cancel, pause, resume, retry and retune runs. Each is idempotent, and tells what it did or would do."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from passgrid.problems import InvalidInput, Problem
from passgrid.warehouse.submission import WORK_CHANNEL


@dataclass(frozen=True, slots=True)
class Controlled:
    """What was done to a run, or would be done in a dry run."""

    run_id: str
    attempts: int
    """Attempts taken out of the queue, put back into it, or changed."""
    running: int
    """Attempts that workers hold now; they end by themselves."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What is to change of a run; None stays."""

    priority: int | None = None
    max_tries: int | None = None
    budget: float | None = None


HELD = "state = 'paused'"
CANCELLED = "state = 'done' AND outcome = 'cancelled'"
BROKEN = "state = 'done' AND outcome = 'infra_error'"
"""What may be asked for again; verdicts never."""


def cancel(engine: sa.Engine, run_id: str, *, dry_run: bool = False) -> Controlled:
    """Take what waits out of the queue at once; what runs ends before its next model or tool call, programs at once."""
    with engine.begin() as connection:
        _hold(connection, run_id)
        running = _count(connection, run_id, "state = 'running'")
        if dry_run:
            return Controlled(run_id, _count(connection, run_id, "state IN ('queued', 'paused')"), running)
        cancelled = connection.execute(
            sa.text(
                "UPDATE attempts SET state = 'done', outcome = 'cancelled', outcome_detail = '', "
                "reason = 'the run was cancelled', valid = false, passed = false, "
                "finished_at = clock_timestamp(), xid = pg_current_xact_id() "
                "WHERE run_id = :run AND state IN ('queued', 'paused')"
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


def pause(engine: sa.Engine, run_id: str, *, dry_run: bool = False) -> Controlled:
    """Hold what waits; what runs goes on to its end."""
    with engine.begin() as connection:
        _hold(connection, run_id)
        running = _count(connection, run_id, "state = 'running'")
        if dry_run:
            return Controlled(run_id, _count(connection, run_id, "state = 'queued'"), running)
        held = connection.execute(
            sa.text(
                "UPDATE attempts SET state = 'paused', xid = pg_current_xact_id() "
                "WHERE run_id = :run AND state = 'queued'"
            ),
            {"run": run_id},
        ).rowcount
        connection.execute(
            sa.text(
                "UPDATE runs SET state = 'paused', xid = pg_current_xact_id() WHERE run_id = :run AND state = 'active'"
            ),
            {"run": run_id},
        )
    return Controlled(run_id, held, running)


def resume(engine: sa.Engine, run_id: str, tuning: Tuning | None = None, *, dry_run: bool = False) -> Controlled:
    """Queue what was held or cancelled, and what ended in an infrastructure error.

    Raises:
        InvalidInput: the run was imported: it cannot be run here.
    """
    return _queue_again(engine, run_id, f"({HELD} OR {CANCELLED} OR {BROKEN})", tuning or Tuning(), dry_run)


def retry(engine: sa.Engine, run_id: str, *, dry_run: bool = False) -> Controlled:
    """Queue again only what ended in an infrastructure error. Raises `InvalidInput` as `resume` does."""
    return _queue_again(engine, run_id, BROKEN, Tuning(), dry_run)


def tune(engine: sa.Engine, run_id: str, tuning: Tuning, *, dry_run: bool = False) -> Controlled:
    """Change the priority, the tries or the budget of a run while it runs."""
    with engine.begin() as connection:
        _hold(connection, run_id)
        running = _count(connection, run_id, "state = 'running'")
        waiting = _count(connection, run_id, "state IN ('queued', 'paused')")
        if not dry_run:
            _tune(connection, run_id, tuning)
    return Controlled(run_id, waiting, running)


def _queue_again(engine: sa.Engine, run_id: str, which: str, tuning: Tuning, dry_run: bool) -> Controlled:
    with engine.begin() as connection:
        _hold(connection, run_id)
        _refuse_imported(connection, run_id)
        running = _count(connection, run_id, "state = 'running'")
        if dry_run:
            return Controlled(run_id, _count(connection, run_id, which), running)
        _tune(connection, run_id, tuning)
        for table in ("tool_calls", "model_calls", "checks", "transcripts", "ledger_changes"):
            connection.execute(
                sa.text(
                    f"DELETE FROM {table} USING attempts "  # noqa: S608 - constants of this file
                    f"WHERE attempt_key = attempts.key AND run_id = :run AND {which}"
                ),
                {"run": run_id},
            )
        queued = connection.execute(sa.text(_QUEUE_AGAIN + which), {"run": run_id}).rowcount
        connection.execute(
            sa.text(
                "UPDATE runs SET state = 'active', stop_reason = '', finished_at = NULL, xid = pg_current_xact_id() "
                "WHERE run_id = :run AND (:n > 0 OR state IN ('paused', 'stopped'))"
            ),
            {"run": run_id, "n": queued},
        )
        connection.execute(sa.text(f"NOTIFY {WORK_CHANNEL}"))
    return Controlled(run_id, queued, running)


_QUEUE_AGAIN = """
UPDATE attempts SET state = 'queued', outcome = NULL, outcome_detail = NULL, reason = NULL, valid = NULL, passed = NULL,
    digest = NULL, finished_at = NULL, worker = NULL, not_before = NULL, stop_reason = NULL, failures = 0, losses = 0,
    lone_losses = 0, xid = pg_current_xact_id()
WHERE run_id = :run AND """


def _tune(connection: sa.Connection, run_id: str, tuning: Tuning) -> None:
    connection.execute(
        sa.text(
            "UPDATE runs SET priority = coalesce(:priority, priority), max_tries = coalesce(:tries, max_tries), "
            "budget_usd = coalesce(:budget, budget_usd), xid = pg_current_xact_id() WHERE run_id = :run"
        ),
        {"run": run_id, "priority": tuning.priority, "tries": tuning.max_tries, "budget": tuning.budget},
    )
    if tuning.priority is not None:
        connection.execute(
            sa.text(
                "UPDATE attempts SET priority = :priority, xid = pg_current_xact_id() "
                "WHERE run_id = :run AND state IN ('queued', 'paused') AND priority <> :priority"
            ),
            {"run": run_id, "priority": tuning.priority},
        )


def _hold(connection: sa.Connection, run_id: str) -> None:
    """Two who control one run do so one after the other."""
    connection.execute(sa.text("SELECT 1 FROM runs WHERE run_id = :run FOR NO KEY UPDATE"), {"run": run_id})


def _refuse_imported(connection: sa.Connection, run_id: str) -> None:
    source = connection.execute(
        sa.text("SELECT imported_from FROM runs WHERE run_id = :run"), {"run": run_id}
    ).scalar_one_or_none()
    if source is not None:
        message = f"it was imported ({source}): there is nothing to run it with"
        raise InvalidInput([Problem(f"RUN {run_id[:12]}", message, "submit its matrix here with submit-matrix")])


def _count(connection: sa.Connection, run_id: str, condition: str) -> int:
    return connection.execute(
        sa.text(f"SELECT count(*) FROM attempts WHERE run_id = :run AND {condition}"),  # noqa: S608 - constants above
        {"run": run_id},
    ).scalar_one()
