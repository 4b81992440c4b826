"""Write a plan: run, cells and attempts in one transaction, by COPY."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.matrix import Attempt
from passgrid.plan import Plan
from passgrid.problems import InvalidInput, Problem
from passgrid.warehouse import blobs, pruning
from passgrid.warehouse.copying import copy_rows

WORK_CHANNEL = "passgrid_work"
"""Notified when there is something to do."""

NO_TRIES = "--max-tries 0: nothing runs until it is resumed with more"

_CELL_COLUMNS = (
    "run_id", "cell_id", "suite", "scenario", "model", "prompt", "target", "fault", "mitigation", "agent", "tags",
    "verdict_hash", "order_hash",
)  # fmt: skip
_ATTEMPT_COLUMNS = (
    "run_id", "cell_key", "attempt_id", "sample", "cassette_hash", "queue", "priority", "state",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a submission did."""

    run_id: str
    wanted: int
    new_attempts: int


def submit(engine: sa.Engine, plan: Plan) -> Submitted:
    """Write a plan; the same plan again adds nothing, a larger k only what is missing.

    Raises:
        InvalidInput: the run exists, and a recording or a check it uses has changed since.
    """
    with engine.begin() as connection:
        return submit_within(connection, plan)


def submit_within(connection: sa.Connection, plan: Plan) -> Submitted:
    """Like `submit`, in the caller's transaction."""
    _write_run(connection, plan)
    pruning.rescue(connection, plan.run_id)
    cell_keys = _write_cells(connection, plan)
    blobs.store(connection, plan.blobs)
    new = _write_attempts(connection, plan, cell_keys)
    if new:
        connection.execute(sa.text(f"NOTIFY {WORK_CHANNEL}"))
    return Submitted(plan.run_id, plan.wanted, new)


def reusable(connection: sa.Connection, plan: Plan) -> int:
    """How many of the plan's attempts are there already."""
    count = connection.execute(
        sa.text(
            "SELECT count(*) FROM attempts JOIN cells ON cells.key = cell_key "
            "WHERE attempts.run_id = :run AND sample < :k"
        ),
        {"run": plan.run_id, "k": plan.matrix.k},
    )
    return count.scalar_one()


def _write_run(connection: sa.Connection, plan: Plan) -> None:
    """Insert the run or take hold of the one that is there; a second submission waits here for the first."""
    connection.execute(
        sa.text(
            "INSERT INTO runs (run_id, label, mode, state, stop_reason, record, k, wanted, priority, max_tries, "
            "budget_usd, allow_unpriced, spec, harness) "
            "VALUES (:run, :label, :mode, :state, :reason, :record, 0, 0, :priority, :tries, :budget, :unpriced, "
            "cast(:spec AS jsonb), cast(:harness AS jsonb)) ON CONFLICT (run_id) DO NOTHING"
        ),
        {
            "run": plan.run_id,
            "label": plan.matrix.label,
            "mode": plan.matrix.mode,
            "state": "active" if plan.request.max_tries else "paused",
            "reason": "" if plan.request.max_tries else NO_TRIES,
            "tries": plan.request.max_tries,
            "budget": plan.request.budget,
            "unpriced": plan.request.allow_unpriced,
            "record": plan.request.record,
            "priority": plan.request.priority,
            "spec": orjson.dumps(plan.request.to_json()).decode(),
            "harness": orjson.dumps(asdict(plan.matrix.harness)).decode(),
        },
    )
    connection.execute(sa.text("SELECT 1 FROM runs WHERE run_id = :run FOR UPDATE"), {"run": plan.run_id})
    if plan.request.budget is not None:
        connection.execute(
            sa.text("UPDATE runs SET budget_usd = :budget WHERE run_id = :run"),
            {"run": plan.run_id, "budget": plan.request.budget},
        )


def _write_cells(connection: sa.Connection, plan: Plan) -> dict[str, int]:
    there = {row.cell_id: row for row in connection.execute(_CELLS, {"run": plan.run_id})}
    changed = [
        cell for cell in plan.cells
        if cell.cell_id in there and there[cell.cell_id].verdict_hash != cell.scenario.verdict_hash()
    ]  # fmt: skip
    if changed:
        raise InvalidInput(
            Problem(
                f"{cell.suite}/{cell.scenario.name}",
                f"its checks changed since run {plan.run_id[:12]} was made",
                f"passgrid rescore {plan.run_id[:12]}, or submit it under another --label",
            )
            for cell in {cell.scenario.name: cell for cell in changed}.values()
        )
    new = [cell for cell in plan.cells if cell.cell_id not in there]
    copy_rows(
        connection,
        "cells",
        _CELL_COLUMNS,
        (
            (
                plan.run_id, cell.cell_id, cell.suite, cell.scenario.name, str(cell.arm.model), cell.arm.prompt.name,
                cell.arm.target, cell.arm.fault, cell.arm.mitigation, cell.arm.agent, list(cell.scenario.tags),
                cell.scenario.verdict_hash(), plan.orders[cell.cell_id],
            )
            for cell in new
        ),
    )  # fmt: skip
    return {row.cell_id: row.key for row in connection.execute(_CELLS, {"run": plan.run_id})}


_CELLS = sa.text("SELECT key, cell_id, verdict_hash FROM cells WHERE run_id = :run")


def _write_attempts(connection: sa.Connection, plan: Plan, cell_keys: dict[str, int]) -> int:
    rows = connection.execute(
        sa.text("SELECT cell_key, sample, attempt_id FROM attempts WHERE run_id = :run"), {"run": plan.run_id}
    )
    there = {(row.cell_key, row.sample): row.attempt_id for row in rows}
    counter = _Counter()
    held = connection.execute(
        sa.text("SELECT state IN ('paused', 'stopped') FROM runs WHERE run_id = :run"), {"run": plan.run_id}
    ).scalar_one()
    state = "paused" if held else "queued"
    copy_rows(connection, "attempts", _ATTEMPT_COLUMNS, counter.count(_new_attempts(plan, cell_keys, there, state)))
    connection.execute(
        sa.text(
            "UPDATE runs SET k = greatest(k, :k), wanted = wanted + :new, priority = :priority, "
            "state = CASE WHEN :new > 0 AND state IN ('done', 'cancelled') THEN 'active' ELSE state END, "
            "finished_at = CASE WHEN :new > 0 THEN NULL ELSE finished_at END, xid = pg_current_xact_id() "
            "WHERE run_id = :run AND (:new > 0 OR k < :k)"
        ),
        {"run": plan.run_id, "k": plan.matrix.k, "new": counter.rows, "priority": plan.request.priority},
    )
    return counter.rows


def _new_attempts(
    plan: Plan, cell_keys: dict[str, int], there: dict[tuple[int, int], str], state: str
) -> Iterator[tuple[Any, ...]]:
    for attempt in plan.attempts():
        key = cell_keys[attempt.cell.cell_id]
        known = there.get((key, attempt.sample))
        if known is None:
            yield (
                plan.run_id, key, attempt.attempt_id, attempt.sample, attempt.cassette_hash, plan.queue,
                plan.request.priority, state,
            )  # fmt: skip
        elif known != attempt.attempt_id:
            raise InvalidInput([_rerecorded(plan, attempt)])


def _rerecorded(plan: Plan, attempt: Attempt) -> Problem:
    place = f"{attempt.cell.suite}/{attempt.cell.scenario.name}, {attempt.cell.arm.model}, sample {attempt.sample}"
    message = f"its recording changed since run {plan.run_id[:12]} was made"
    return Problem(place, message, "submit it under another --label")


class _Counter:
    """Counts rows on their way."""

    def __init__(self) -> None:
        self.rows = 0

    def count(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same rows, counted."""
        for row in rows:
            self.rows += 1
            yield row
