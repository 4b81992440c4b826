"""What a run came to, in one line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

LEAST_COVERAGE = 0.95
"""Valid / wanted below which a run says nothing."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The end, so far, of one run."""

    run_id: str
    state: str
    wanted: int
    done: int
    valid: int
    passed: int
    stop_reason: str
    """Why it was stopped; empty where it was not."""
    digest: str | None
    """SHA-256 over the attempts' digests in id order; None until all are done."""

    def to_json(self, *, new_attempts: int) -> dict[str, Any]:
        """As `submit-matrix --json` prints it."""
        return {
            "run": self.run_id,
            "state": self.state,
            "wanted": self.wanted,
            "new_attempts": new_attempts,
            "valid": self.valid,
            "passed": self.passed,
            "digest": self.digest,
        }

    @property
    def exit_code(self) -> int:
        """0 done, 1 stopped, 4 coverage too low to say anything."""
        if self.state in {"cancelled", "stopped", "paused"} or self.stop_reason:
            return 1
        return 0 if self.valid >= LEAST_COVERAGE * self.wanted else 4


def run_summary(connection: sa.Connection, run_id: str) -> RunSummary:
    """Read what a run came to. Raises `LookupError` where there is none of this id."""
    row = connection.execute(
        sa.text(
            "SELECT runs.state, runs.stop_reason, count(*) AS wanted, "
            "count(*) FILTER (WHERE attempts.state = 'done') AS done, "
            "count(*) FILTER (WHERE valid) AS valid, count(*) FILTER (WHERE passed) AS passed "
            "FROM runs JOIN attempts USING (run_id) WHERE run_id = :run "
            "GROUP BY runs.state, runs.stop_reason"
        ),
        {"run": run_id},
    ).one_or_none()
    if row is None:
        raise LookupError(f"no run {run_id}")
    complete = row.done == row.wanted
    digest = _digest(connection, run_id) if complete else None
    connection.rollback()
    state = "done" if complete and row.state == "active" else row.state
    return RunSummary(run_id, state, row.wanted, row.done, row.valid, row.passed, row.stop_reason, digest)


def _digest(connection: sa.Connection, run_id: str) -> str:
    rows = connection.execute(
        sa.text(
            "SELECT coalesce(digest, outcome) AS digest FROM attempts WHERE run_id = :run "
            'ORDER BY attempt_id COLLATE "C"'
        ),
        {"run": run_id},
    )
    digest = hashlib.sha256()
    for row in rows:
        digest.update(row.digest.encode())
    return digest.hexdigest()
