"""The facts of runs for a report, straight from Postgres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from passgrid.report.facts import ARM_AXES, ArmName, AttemptFact, fact_of

_ATTEMPTS = sa.text("""
SELECT a.key, a.run_id, r.label, r.mode, r.imported_from, c.model, c.prompt, c.target, c.fault, c.mitigation, c.suite,
    c.scenario, a.sample, a.attempt_id, a.state, a.outcome, a.outcome_detail, a.reason, a.valid, a.passed, a.tool_calls,
    a.model_turns, a.wasted_calls, a.duration_s, a.input_tokens + a.output_tokens AS tokens, a.cost_usd
FROM attempts a JOIN cells c ON c.key = a.cell_key JOIN runs r ON r.run_id = a.run_id
WHERE a.run_id = ANY(:runs)
ORDER BY array_position(cast(:runs AS text[]), a.run_id), c.key, a.sample
""")

_ANSWERS = sa.text("""
SELECT attempt_key, answered, count(*) AS n FROM tool_calls JOIN attempts ON attempts.key = attempt_key
WHERE run_id = ANY(:runs) GROUP BY 1, 2
""")

_STAGES = sa.text("""
SELECT attempt_key, name, checks.passed FROM checks JOIN attempts ON attempts.key = attempt_key
WHERE run_id = ANY(:runs) AND stage
""")


def attempt_facts(connection: sa.Connection, run_ids: Sequence[str]) -> Iterator[AttemptFact]:
    """Every wanted attempt of these runs, runs in the order given, arms in the order submitted."""
    runs = {"runs": list(run_ids)}
    answers: dict[int, dict[str, int]] = {}
    for row in connection.execute(_ANSWERS, runs):
        answers.setdefault(row.attempt_key, {})[row.answered] = row.n
    stages: dict[int, dict[str, bool]] = {}
    for row in connection.execute(_STAGES, runs):
        stages.setdefault(row.attempt_key, {})[row.name] = row.passed is True
    names: dict[tuple[Any, ...], ArmName] = {}
    for row in connection.execute(_ATTEMPTS, runs).mappings():
        axes = tuple(row[name] for name in ARM_AXES)
        arm = names.setdefault(axes, ArmName(*axes, imported_from=row["imported_from"]))
        yield fact_of(arm, dict(row), answers.get(row["key"], {}), stages.get(row["key"], {}))
