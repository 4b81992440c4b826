"""Write imported runs: finished from the start, never queued, marked by where they came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.identity import short_id
from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedRun
from passgrid.problems import InvalidInput, Problem
from passgrid.storable import storable
from passgrid.warehouse import blobs
from passgrid.warehouse.copying import copy_rows
from passgrid.warehouse.texts import stored_json, stored_text


@dataclass(frozen=True, slots=True)
class Written:
    """What an import did."""

    run_id: str
    attempts: int
    new: bool
    """False: the same content was there already, and nothing was written."""


def write_run(engine: sa.Engine, run: ImportedRun) -> Written:
    """Write a run in one transaction; the same content again writes nothing.

    Raises:
        InvalidInput: the run is being deleted, or two of its attempts have one id.
    """
    run = run.with_attempt_ids()
    run_id = run.run_id()
    _check_ids(run)
    with engine.begin() as connection:
        if not connection.execute(_INSERT, _run_columns(run_id, run)).rowcount:
            _refuse_pruned(connection, run_id, run)
            return Written(run_id, run.wanted, new=False)
        cells = _write_cells(connection, run_id, run)
        copy_rows(connection, "attempts", _ATTEMPT_COLUMNS, _attempts(run_id, run, cells))
        found = connection.execute(_KEYS, {"run": run_id})
        keys = {row.attempt_id: row.key for row in found}
        for table, columns, rows in _CHILDREN:
            given = (row for arm in run.arms for one in arm.attempts for row in rows(keys[one.attempt_id], one))
            copy_rows(connection, table, columns, given)
    return Written(run_id, run.wanted, new=True)


_INSERT = sa.text("""
INSERT INTO runs (
    run_id, label, mode, state, k, wanted, priority, spec, harness, imported_from, created_at, finished_at
) VALUES (:run, :label, :mode, 'done', :k, :wanted, 0, '{}', cast(:harness AS jsonb), :source,
    coalesce(:created, clock_timestamp()), coalesce(:finished, clock_timestamp()))
ON CONFLICT (run_id) DO NOTHING
""")

_KEYS = sa.text("SELECT attempt_id, key FROM attempts WHERE run_id = :run")
_CELL_KEYS = sa.text("SELECT cell_id, key FROM cells WHERE run_id = :run")

_CELL_COLUMNS = (
    "run_id", "cell_id", "suite", "scenario", "model", "prompt", "target", "fault", "mitigation", "agent", "tags",
    "verdict_hash", "order_hash",
)  # fmt: skip
_ATTEMPT_COLUMNS = (
    "run_id", "cell_key", "attempt_id", "sample", "queue", "priority", "state", "outcome", "outcome_detail", "reason",
    "valid", "passed", "model_turns", "tool_calls", "wasted_calls", "input_tokens", "output_tokens", "cost_usd",
    "duration_s", "working_s", "recovered_structured", "recovered_opaque", "leftovers", "digest", "started_at",
    "finished_at",
)  # fmt: skip
QUEUE = "imported"
"""Which no worker takes."""


def _check_ids(run: ImportedRun) -> None:
    seen: set[str | None] = set()
    twice: list[str] = []
    for arm in run.arms:
        for one in arm.attempts:
            if one.attempt_id in seen:
                twice.append(f"{one.suite}/{one.scenario}, sample {one.sample}")
            seen.add(one.attempt_id)
    if twice:
        raise InvalidInput(Problem(place, "its attempt id comes twice in the run") for place in twice[:20])


def _refuse_pruned(connection: sa.Connection, run_id: str, run: ImportedRun) -> None:
    state = connection.execute(sa.text("SELECT state FROM runs WHERE run_id = :run"), {"run": run_id}).scalar_one()
    if state == "pruned":
        message = f"run {run_id[:12]} is being deleted"
        raise InvalidInput([Problem(run.label, message, "let `passgrid prune` finish, then import it again")])


def _run_columns(run_id: str, run: ImportedRun) -> dict[str, Any]:
    return {
        "run": run_id,
        "label": stored_text(run.label),
        "mode": run.mode,
        "k": run.k,
        "wanted": run.wanted,
        "harness": orjson.dumps(dict(run.harness)).decode(),
        "source": run.source,
        "created": run.created_at,
        "finished": run.finished_at,
    }


_Cell = tuple[tuple[str, ...], tuple[str, str]]


def _write_cells(connection: sa.Connection, run_id: str, run: ImportedRun) -> dict[_Cell, int]:
    """Arm by arm, scenarios in the order they come: reports keep it."""
    tags: dict[_Cell, tuple[str, ...]] = {}
    for arm in run.arms:
        for one in arm.attempts:
            tags.setdefault((arm.axes, one.scenario_key), one.tags)
    ids = {cell: short_id([run_id, *cell]) for cell in tags}
    rows = ((run_id, ids[cell], *map(stored_text, (*cell[1], *cell[0])), list(tags[cell]), "", "") for cell in tags)
    copy_rows(connection, "cells", _CELL_COLUMNS, rows)
    keys = {row.cell_id: row.key for row in connection.execute(_CELL_KEYS, {"run": run_id})}
    return {cell: keys[name] for cell, name in ids.items()}


def _attempts(run_id: str, run: ImportedRun, cells: dict[_Cell, int]) -> Iterator[tuple[Any, ...]]:
    for arm in run.arms:
        for one in arm.attempts:
            yield _attempt(run_id, arm, one, cells)


def _attempt(run_id: str, arm: ImportedArm, one: ImportedAttempt, cells: dict[_Cell, int]) -> tuple[Any, ...]:
    outcome = one.outcome
    return (
        run_id, cells[arm.axes, one.scenario_key], one.attempt_id, one.sample, QUEUE, 0, "done", str(outcome.kind),
        stored_text(outcome.detail), stored_text(outcome.reason), outcome.valid, outcome.passed, one.model_turns,
        one.steps, one.wasted_calls, one.input_tokens, one.output_tokens, one.cost_usd, one.duration_s, one.working_s,
        one.recovered_structured, one.recovered_opaque, one.leftovers, one.digest, one.started_at, one.finished_at,
    )  # fmt: skip


def _tool_calls(key: int, one: ImportedAttempt) -> Iterator[tuple[Any, ...]]:
    for seq, call in enumerate(one.tool_calls):
        yield (
            key, seq, call.turn, stored_text(call.server), stored_text(call.tool), stored_json(call.arguments),
            call.result_bytes, call.answered, call.error,
            None if call.error_text is None else stored_text(call.error_text), call.started_ms, call.duration_ms,
            seq if call.asked is None else call.asked, call.answered_at, call.score,
        )  # fmt: skip


def _model_calls(key: int, one: ImportedAttempt) -> Iterator[tuple[Any, ...]]:
    for call in one.model_calls:
        yield (
            key, call.turn, call.answered, call.served_model, call.finish_reason, call.input_tokens,
            call.output_tokens, call.cache_read_tokens, call.cache_write_tokens, call.cost_usd, call.cost_source,
            call.started_ms, call.duration_ms,
        )  # fmt: skip


def _checks(key: int, one: ImportedAttempt) -> Iterator[tuple[Any, ...]]:
    for check in one.checks:
        name, detail = stored_text(check.name), stored_text(check.detail)
        yield key, name, check.kind, check.stage, check.required, check.passed, detail, check.imported


def _flags(key: int, one: ImportedAttempt) -> Iterator[tuple[Any, ...]]:
    for name, detail in one.flags.items():
        yield key, stored_text(name), stored_text(detail)


def _transcripts(key: int, one: ImportedAttempt) -> Iterator[tuple[Any, ...]]:
    if one.messages is not None:
        yield key, blobs.compress(orjson.dumps(storable(one.messages)))


_CHILDREN = (
    (
        "tool_calls",
        (
            "attempt_key", "seq", "turn", "server", "tool", "arguments", "result_bytes", "answered", "error",
            "error_text", "started_ms", "duration_ms", "asked", "answered_at", "score",
        ),
        _tool_calls,
    ),
    (
        "model_calls",
        (
            "attempt_key", "turn", "answered", "served_model", "finish_reason", "input_tokens", "output_tokens",
            "cache_read_tokens", "cache_write_tokens", "cost_usd", "cost_source", "started_ms", "duration_ms",
        ),
        _model_calls,
    ),
    ("checks", ("attempt_key", "name", "kind", "stage", "required", "passed", "detail", "imported"), _checks),
    ("flags", ("attempt_key", "name", "detail"), _flags),
    ("transcripts", ("attempt_key", "body"), _transcripts),
)  # fmt: skip
"""What is written for each attempt: table, columns, rows."""
