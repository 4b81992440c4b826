"""Delete runs with everything that hangs on them, a batch at a time.

A run that is being deleted has the state `pruned`: it shrinks batch by batch, each its own short transaction, and a
prune that was killed is taken up by the next one. Every batch leaves a tombstone, so that an export in between drops
what is gone. Submitting the run again meanwhile wins: it is kept, and what is missing is added (`rescue`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

BATCH = 500
"""Attempts deleted in one transaction, with some ten rows each below them: a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run that may be pruned."""

    run_id: str
    label: str
    state: str
    ended_at: datetime
    """When it ended; where that is unknown, when it was made."""
    attempts: int
    unfinished: int
    """Attempts that wait, are paused or run."""

    @property
    def active(self) -> bool:
        """Whether somebody may still want its results: it is active or paused, or some of its attempts run."""
        return self.state in {"active", "paused"} or (self.unfinished > 0 and self.state != "pruned")


@dataclass(frozen=True, slots=True)
class PrunedRuns:
    """What was deleted."""

    runs: int
    attempts: int
    rescued: tuple[str, ...]
    """Runs that were submitted again meanwhile, and stay."""


_CANDIDATES = """
SELECT r.run_id, label, r.state, coalesce(r.finished_at, created_at) AS ended_at,
    count(a.key) AS attempts, count(a.key) FILTER (WHERE a.state <> 'done') AS unfinished
FROM {runs} r LEFT JOIN attempts a USING (run_id)
GROUP BY r.run_id, label, r.state, r.finished_at, created_at ORDER BY ended_at, r.run_id
"""

_NAMED = sa.text(_CANDIDATES.format(runs="(SELECT * FROM runs WHERE run_id = ANY(:runs))"))

_SELECTED = sa.text(
    _CANDIDATES.format(
        runs="""(
    SELECT * FROM (
        SELECT *, row_number() OVER (ORDER BY created_at DESC, run_id) AS age FROM runs
        WHERE cast(:label AS text) IS NULL OR label LIKE :label
    ) ordered
    WHERE (cast(:keep AS int) IS NULL OR age > :keep)
        AND (cast(:older AS interval) IS NULL OR coalesce(finished_at, created_at) < clock_timestamp() - :older)
)"""
    )
)


def named_runs(connection: sa.Connection, run_ids: Sequence[str]) -> list[Candidate]:
    """These runs, the longest ended first."""
    return [Candidate(*row) for row in connection.execute(_NAMED, {"runs": list(run_ids)})]


def selected_runs(
    connection: sa.Connection, *, older_than: timedelta | None, keep_last: int | None, label: str | None
) -> list[Candidate]:
    """Runs that ended before so long ago and are not among the newest, of those whose label fits. Never active ones.

    label: `*` stands for anything.
    """
    pattern = None if label is None else _like(label)
    rows = connection.execute(_SELECTED, {"older": older_than, "keep": keep_last, "label": pattern})
    return [one for row in rows if not (one := Candidate(*row)).active]


def unfinished_prunes(connection: sa.Connection) -> list[str]:
    """Runs whose deletion was begun and not brought to its end."""
    return list(connection.execute(sa.text("SELECT run_id FROM runs WHERE state = 'pruned'")).scalars())


def prune_runs(engine: sa.Engine, run_ids: Sequence[str], *, force: bool = False) -> PrunedRuns:
    """Delete these runs. One that became active since it was chosen is left alone, unless forced."""
    runs = attempts = 0
    rescued: list[str] = []
    for run_id in run_ids:
        if not _begin(engine, run_id, force=force):
            rescued.append(run_id)
            continue
        gone, done = _delete(engine, run_id)
        attempts += gone
        runs += done
        if not done:
            rescued.append(run_id)
    return PrunedRuns(runs, attempts, tuple(rescued))


def rescue(connection: sa.Connection, run_id: str) -> None:
    """Keep a run that is being pruned: in the transaction that submits it again, which holds its row."""
    connection.execute(
        sa.text("UPDATE runs SET state = 'done', xid = pg_current_xact_id() WHERE run_id = :run AND state = 'pruned'"),
        {"run": run_id},
    )


_BEGIN = sa.text("""
UPDATE runs SET state = 'pruned', xid = pg_current_xact_id() WHERE run_id = :run AND (:force OR state = 'pruned' OR (
    state NOT IN ('active', 'paused')
    AND NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.run_id = :run AND attempts.state <> 'done')
))
""")

_TAKE_BACK = sa.text("""
UPDATE attempts SET state = 'done', outcome = 'cancelled', outcome_detail = '', reason = 'the run was pruned',
    valid = false, passed = false, finished_at = clock_timestamp(), xid = pg_current_xact_id()
WHERE run_id = :run AND state IN ('queued', 'paused')
""")


def _begin(engine: sa.Engine, run_id: str, *, force: bool) -> bool:
    """Mark the run, and keep workers from taking up what waits. What runs ends by itself: its result is refused."""
    with engine.begin() as connection:
        if not connection.execute(_BEGIN, {"run": run_id, "force": force}).rowcount:
            return False
        connection.execute(_TAKE_BACK, {"run": run_id})
    return True


_DELETE_SOME = sa.text("DELETE FROM attempts WHERE key IN (SELECT key FROM attempts WHERE run_id = :run LIMIT :batch)")

_SHRINK = sa.text("UPDATE runs SET wanted = greatest(0, wanted - :n), xid = pg_current_xact_id() WHERE run_id = :run")

_TOMBSTONE = sa.text(
    "INSERT INTO tombstones (run_id) VALUES (:run) ON CONFLICT (run_id) DO UPDATE SET xid = pg_current_xact_id()"
)


def _delete(engine: sa.Engine, run_id: str) -> tuple[int, bool]:
    """Delete batch after batch; returns how many attempts went, and whether the run went too."""
    total = 0
    while True:
        with engine.begin() as connection:
            held = connection.execute(
                sa.text("SELECT 1 FROM runs WHERE run_id = :run AND state = 'pruned' FOR UPDATE"), {"run": run_id}
            ).one_or_none()
            if held is None:
                return total, False
            gone = connection.execute(_DELETE_SOME, {"run": run_id, "batch": BATCH}).rowcount
            total += gone
            if gone < BATCH:
                connection.execute(sa.text("DELETE FROM cells WHERE run_id = :run"), {"run": run_id})
                connection.execute(sa.text("DELETE FROM runs WHERE run_id = :run"), {"run": run_id})
                return total, True
            connection.execute(_SHRINK, {"run": run_id, "n": gone})
            connection.execute(_TOMBSTONE, {"run": run_id})


def _like(label: str) -> str:
    return label.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_").replace("*", "%")
