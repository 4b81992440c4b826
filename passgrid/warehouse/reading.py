"""Single attempts as stored: their rows, journal and transcript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.transcript import Message
from passgrid.warehouse.blobs import decompress

_COLUMNS = """
a.attempt_id, c.suite, c.scenario, c.model, c.prompt, c.target, c.fault, c.mitigation, c.agent, a.sample, a.state,
a.outcome, a.outcome_detail, a.reason, a.valid, a.passed, a.model_turns, a.tool_calls, a.wasted_calls, a.input_tokens,
a.output_tokens, a.cost_usd, a.duration_s, a.digest, a.started_at, a.finished_at
"""

_LIST = sa.text(
    f"SELECT {_COLUMNS} FROM attempts a JOIN cells c ON c.key = a.cell_key WHERE a.run_id = :run "  # noqa: S608
    "AND a.attempt_id > :after AND (cast(:outcome AS text) IS NULL OR a.outcome = :outcome) "
    "ORDER BY a.attempt_id LIMIT :limit"
)
_ONE = sa.text(
    f"SELECT a.key, {_COLUMNS} FROM attempts a JOIN cells c ON c.key = a.cell_key "  # noqa: S608
    "WHERE a.run_id = :run AND a.attempt_id LIKE :attempt LIMIT 2"
)
_PARTS = {
    "tool_calls": sa.text("SELECT * FROM tool_calls WHERE attempt_key = :key ORDER BY seq"),
    "model_calls": sa.text("SELECT * FROM model_calls WHERE attempt_key = :key ORDER BY turn"),
    "checks": sa.text("SELECT * FROM checks WHERE attempt_key = :key ORDER BY stage, name"),
    "tries": sa.text("SELECT * FROM tries WHERE attempt_key = :key ORDER BY fence"),
}


def list_attempts(
    connection: sa.Connection, run_id: str, *, outcome: str | None, after: str, limit: int
) -> list[dict[str, Any]]:
    """Attempts in id order, those after `after`, at most `limit`; all outcomes when `outcome` is None."""
    rows = connection.execute(_LIST, {"run": run_id, "outcome": outcome, "after": after, "limit": limit})
    return [dict[str, Any](row) for row in rows.mappings()]


def _one(connection: sa.Connection, run_id: str, attempt: str) -> dict[str, Any]:
    pattern = attempt + "%" if attempt.isalnum() and len(attempt) >= 4 else ""
    rows = connection.execute(_ONE, {"run": run_id, "attempt": pattern}).mappings().all()
    if len(rows) != 1:
        raise LookupError(f"{'no attempt' if not rows else 'more than one attempt'} of the run starts with {attempt}")
    return dict[str, Any](rows[0])


def attempt_details(connection: sa.Connection, run_id: str, attempt: str) -> dict[str, Any]:
    """One attempt, by the start of its id, with its journal, model turns, checks and tries. Raises `LookupError`."""
    found = _one(connection, run_id, attempt)
    key = found.pop("key")
    for part, query in _PARTS.items():
        rows = connection.execute(query, {"key": key})
        found[part] = [{name: value for name, value in row.items() if name != "attempt_key"} for row in rows.mappings()]
    return found


def transcript(connection: sa.Connection, run_id: str, attempt: str) -> list[Message]:
    """Its messages; raises `LookupError` where there is no such attempt, or it has none yet."""
    key = _one(connection, run_id, attempt)["key"]
    body = connection.execute(
        sa.text("SELECT body FROM transcripts WHERE attempt_key = :key"), {"key": key}
    ).scalar_one_or_none()
    if body is None:
        raise LookupError(f"attempt {attempt} has no transcript yet")
    return orjson.loads(decompress(body))


def run_transcripts(connection: sa.Connection, run_id: str) -> Iterator[tuple[str, int, list[Message]]]:
    """Scenario, sample and messages of every finished attempt of a run."""
    rows = connection.execute(
        sa.text(
            "SELECT scenario, sample, body FROM attempts JOIN cells ON cells.key = cell_key "
            "JOIN transcripts ON attempt_key = attempts.key WHERE attempts.run_id = :run ORDER BY attempts.key"
        ),
        {"run": run_id},
    )
    for row in rows:
        yield row.scenario, row.sample, orjson.loads(decompress(row.body))
