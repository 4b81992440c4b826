"""How far runs are: counts by arm and outcome, straight from Postgres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from passgrid.warehouse.engine import make_engine


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """How far one arm of a run is."""

    model: str
    prompt: str
    target: str
    agent: str
    wanted: int
    running: int
    outcomes: dict[str, int]
    """Finished attempts by outcome, such as `passed` or `limit(turns)`."""
    spent_usd: float | None = None
    """Of all tries so far, open calls at their worst; None: some cost is unknown, or nothing was bought."""

    @property
    def done(self) -> int:
        """Finished attempts, valid or not."""
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far one run is."""

    run_id: str
    label: str
    mode: str
    state: str
    arms: tuple[ArmProgress, ...]
    reasons: tuple[tuple[str, int], ...]
    """Why attempts did not pass so far, most frequent first."""
    stop_reason: str = ""
    budget_usd: float | None = None
    spent_usd: float = 0.0
    """Known cost of calls that were answered; of an open call the worst, once its try is over."""

    @property
    def wanted(self) -> int:
        """Attempts of the run."""
        return sum(arm.wanted for arm in self.arms)

    @property
    def done(self) -> int:
        """Finished attempts."""
        return sum(arm.done for arm in self.arms)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do, or nothing will be done: held runs end once nothing of them runs."""
        held = self.state in {"stopped", "paused"} and not any(arm.running for arm in self.arms)
        return held or self.done >= self.wanted


_ARMS = sa.text("""
SELECT model, prompt, target, agent,
    CASE WHEN attempts.state <> 'done' THEN attempts.state
         WHEN outcome_detail <> '' THEN outcome || '(' || outcome_detail || ')' ELSE outcome END AS outcome,
    attempts.state = 'done' AS done, count(*) AS n
FROM attempts JOIN cells ON cells.key = cell_key WHERE attempts.run_id = :run
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4
""")

_SPENT = sa.text("""
SELECT model, prompt, target, agent, sum(coalesce(intents.cost_usd, reserved_usd)) AS usd,
    count(*) FILTER (WHERE coalesce(intents.cost_usd, reserved_usd) IS NULL) AS unknown
FROM attempts JOIN cells ON cells.key = cell_key JOIN intents ON attempt_key = attempts.key
WHERE attempts.run_id = :run AND kind = 'model' AND provider IS NOT NULL GROUP BY 1, 2, 3, 4
""")

_REASONS = sa.text("""
SELECT coalesce(nullif(reason, ''), outcome) AS reason, count(*) AS n FROM attempts
WHERE run_id = :run AND state = 'done' AND NOT passed GROUP BY 1 ORDER BY n DESC, 1 LIMIT 5
""")


def run_progress(connection: sa.Connection, run_id: str) -> RunProgress:
    """How far a run is. Raises `LookupError` where there is none of this id."""
    run = connection.execute(
        sa.text("SELECT run_id, label, mode, state, stop_reason, budget_usd, spent_usd FROM runs WHERE run_id = :run"),
        {"run": run_id},
    ).one_or_none()
    if run is None:
        raise LookupError(f"no run {run_id}")
    arms: dict[tuple[str, str, str, str], list[Any]] = {}
    for row in connection.execute(_ARMS, {"run": run_id}):
        arms.setdefault((row.model, row.prompt, row.target, row.agent), []).append(row)
    reasons = tuple((row.reason, row.n) for row in connection.execute(_REASONS, {"run": run_id}))
    bought = connection.execute(_SPENT, {"run": run_id}) if run.mode != "replay" else ()
    spent = {(row.model, row.prompt, row.target, row.agent): None if row.unknown else row.usd for row in bought}
    connection.rollback()
    return RunProgress(
        run.run_id,
        run.label,
        run.mode,
        run.state,
        tuple(
            ArmProgress(
                *arm,
                wanted=sum(row.n for row in rows),
                running=sum(row.n for row in rows if row.outcome == "running" and not row.done),
                outcomes={row.outcome: row.n for row in rows if row.done},
                spent_usd=spent.get(arm),
            )
            for arm, rows in arms.items()
        ),
        reasons,
        run.stop_reason,
        run.budget_usd,
        run.spent_usd,
    )


def unfinished(connection: sa.Connection, run_id: str) -> int:
    """Attempts of a run that are still to be finished: cheap enough to ask often."""
    count = connection.execute(
        sa.text("SELECT count(*) FROM attempts WHERE run_id = :run AND state <> 'done'"), {"run": run_id}
    ).scalar_one()
    connection.rollback()
    return count


def runnable_attempts(database_url: str) -> int:
    """Attempts that wait or run, in all runs."""
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            return connection.execute(
                sa.text("SELECT count(*) FROM attempts WHERE state IN ('queued', 'running')")
            ).scalar_one()
    finally:
        engine.dispose()


def find_run(connection: sa.Connection, reference: str) -> str:
    """The id of a run given by the start of its id (at least four characters) or by its label, the newest first.

    Of a run and its own copy, imported again, the run is meant.
    Raises `LookupError` saying what there is.
    """
    rows = connection.execute(
        sa.text(
            "SELECT run_id, run_id LIKE :start AS by_id FROM runs "
            "WHERE (run_id LIKE :start OR label = :label) AND state <> 'pruned' "
            "ORDER BY created_at DESC, imported_from NULLS FIRST"
        ),
        {"start": _escaped(reference) + "%" if len(reference) >= 4 else "", "label": reference},
    ).all()
    connection.rollback()
    by_id = [row.run_id for row in rows if row.by_id]
    if len(by_id) > 1:
        raise LookupError(f"{reference} is the start of {len(by_id)} runs: {', '.join(by_id[:5])}")
    if by_id:
        return by_id[0]
    if rows:
        return rows[0].run_id
    raise LookupError(f"no run starts with {reference} or has it as its label; see `passgrid status`")


def finished_run_ids(connection: sa.Connection) -> list[str]:
    """Runs of which nothing is left to do, the oldest first."""
    rows = connection.execute(
        sa.text(
            "SELECT run_id FROM runs WHERE state <> 'pruned' AND NOT EXISTS "
            "(SELECT 1 FROM attempts WHERE attempts.run_id = runs.run_id AND state <> 'done') "
            "ORDER BY created_at, run_id"
        )
    )
    return list(rows.scalars())


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")


def finish_runs(connection: sa.Connection) -> list[str]:
    """Mark active runs that have nothing left to do as done; returns their ids."""
    rows = connection.execute(
        sa.text(
            "UPDATE runs SET state = 'done', finished_at = clock_timestamp(), xid = pg_current_xact_id() "
            "WHERE state IN ('active', 'paused', 'stopped') AND NOT EXISTS "
            "(SELECT 1 FROM attempts WHERE attempts.run_id = runs.run_id AND state <> 'done') RETURNING run_id"
        )
    )
    ids = [row.run_id for row in rows]
    connection.commit()
    return ids


def active_runs(connection: sa.Connection) -> list[dict[str, Any]]:
    """Runs that are not done, the newest first, with how far they are."""
    rows = connection.execute(
        sa.text(
            "SELECT run_id AS run, label, mode, count(*) AS wanted, count(*) FILTER (WHERE attempts.state = 'done') "
            "AS done FROM runs JOIN attempts USING (run_id) WHERE runs.state = 'active' "
            "GROUP BY run_id, label, mode, created_at ORDER BY created_at DESC"
        )
    )
    found = [dict[str, Any](row) for row in rows.mappings()]
    connection.rollback()
    return found


def list_runs(connection: sa.Connection, limit: int) -> list[dict[str, Any]]:
    """The newest runs with how far they are."""
    rows = connection.execute(
        sa.text(
            "SELECT run_id AS run, label, mode, r.state, k, r.priority, created_at, r.finished_at, "
            "count(a.key) AS wanted, "
            "count(*) FILTER (WHERE a.state = 'done') AS done, count(*) FILTER (WHERE valid) AS valid, "
            "count(*) FILTER (WHERE passed) AS passed "
            "FROM (SELECT * FROM runs ORDER BY created_at DESC LIMIT :limit) r LEFT JOIN attempts a USING (run_id) "
            "GROUP BY run_id, label, mode, r.state, k, r.priority, created_at, r.finished_at ORDER BY created_at DESC"
        ),
        {"limit": limit},
    )
    found = [dict[str, Any](row) for row in rows.mappings()]
    connection.rollback()
    return found
