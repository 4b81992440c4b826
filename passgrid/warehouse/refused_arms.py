"""Stop the arms of a run whose model refuses every request with the same authentication error."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

_AUTHENTICATION_ERRORS = 5
"""So many identical ones stop an arm: the key is wrong, and asking on changes nothing."""


def hold_runs(connection: sa.Connection, runs: Iterable[str]) -> None:
    """Before refused results of these runs are written: two who write at once would not count each other's."""
    connection.execute(
        sa.text("SELECT 1 FROM runs WHERE run_id = ANY(:runs) ORDER BY run_id FOR NO KEY UPDATE"),
        {"runs": sorted(runs)},
    )


def stop_refused_arms(connection: sa.Connection, runs: Iterable[str]) -> None:
    """Stop the arms of these runs whose attempts were refused for one and the same reason five times.

    In the transaction that writes the refused results: a request waits until those before it are known.
    """
    for run_id in sorted(runs):
        arms = connection.execute(_REFUSED_ARMS, {"run": run_id, "most": _AUTHENTICATION_ERRORS}).all()
        for arm in arms:
            reason = f"stopped after {arm.n} identical authentication errors: {arm.reason}"[:1000]
            facts = {"run": run_id, "cells": arm.cells, "reason": reason}
            connection.execute(_STOP_CELLS, facts)
            connection.execute(
                sa.text("UPDATE runs SET stop_reason = :reason, xid = pg_current_xact_id() WHERE run_id = :run"), facts
            )


_REFUSED_ARMS = sa.text("""
SELECT array_agg(DISTINCT cells.key) AS cells, max(refused.n) AS n, max(refused.reason) AS reason FROM (
    SELECT model, prompt, target, fault, mitigation, agent, reason, count(*) AS n
    FROM attempts JOIN cells ON cells.key = cell_key
    WHERE attempts.run_id = :run AND outcome = 'infra_error' AND outcome_detail = 'authentication'
    GROUP BY model, prompt, target, fault, mitigation, agent, reason HAVING count(*) >= :most
) refused JOIN cells USING (model, prompt, target, fault, mitigation, agent)
WHERE cells.run_id = :run GROUP BY model, prompt, target, fault, mitigation, agent
""")

_STOP_CELLS = sa.text("""
UPDATE attempts SET
    state = CASE state WHEN 'running' THEN 'running' ELSE 'done' END,
    stop_reason = :reason,
    outcome = CASE state WHEN 'running' THEN NULL ELSE 'cancelled' END,
    outcome_detail = CASE state WHEN 'running' THEN NULL ELSE 'authentication' END,
    reason = CASE state WHEN 'running' THEN NULL ELSE :reason END,
    valid = CASE state WHEN 'running' THEN NULL ELSE false END,
    passed = CASE state WHEN 'running' THEN NULL ELSE false END,
    finished_at = CASE state WHEN 'running' THEN NULL ELSE clock_timestamp() END,
    xid = pg_current_xact_id()
WHERE run_id = :run AND cell_key = ANY(:cells) AND state IN ('queued', 'paused', 'running')
""")
