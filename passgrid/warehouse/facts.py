"""The facts of runs for a report, straight from Postgres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from passgrid.report.facts import ARM_AXES, ArmName, AttemptFact, fact_of
from passgrid.report.tool_use import ToolUse

_ATTEMPTS = sa.text("""
SELECT a.key, a.run_id, r.label, r.mode, r.imported_from, c.model, c.prompt, c.target, c.fault, c.mitigation, c.agent,
    c.suite, c.scenario, a.sample, a.attempt_id, a.state, a.outcome, a.outcome_detail, a.reason, a.valid, a.passed,
    a.tool_calls, a.model_turns, a.wasted_calls, a.duration_s, a.input_tokens + a.output_tokens AS tokens, a.cost_usd,
    a.working_s, a.recovered_structured, a.recovered_opaque, a.leftovers
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


_FLAGS = sa.text("""
SELECT attempt_key, name FROM flags JOIN attempts ON attempts.key = attempt_key WHERE run_id = ANY(:runs) ORDER BY name
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
    flags: dict[int, list[str]] = {}
    for row in connection.execute(_FLAGS, runs):
        flags.setdefault(row.attempt_key, []).append(row.name)
    names: dict[tuple[Any, ...], ArmName] = {}
    for row in connection.execute(_ATTEMPTS, runs).mappings():
        axes = tuple(row[name] for name in ARM_AXES)
        arm = names.setdefault(axes, ArmName(*axes, imported_from=row["imported_from"]))
        key = row["key"]
        yield fact_of(arm, dict(row), answers.get(key, {}), stages.get(key, {}), tuple(flags.get(key, ())))


_TOOLS = sa.text("""
SELECT a.run_id, r.label, r.mode, r.imported_from, c.model, c.prompt, c.target, c.fault, c.mitigation, c.agent,
    t.tool, count(*) AS calls, count(*) FILTER (WHERE t.error) AS errors
FROM tool_calls t JOIN attempts a ON a.key = t.attempt_key JOIN cells c ON c.key = a.cell_key
    JOIN runs r ON r.run_id = a.run_id
WHERE a.run_id = ANY(:runs) GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ORDER BY calls DESC, t.tool
""")


def tool_uses(connection: sa.Connection, run_ids: Sequence[str]) -> dict[ArmName, list[ToolUse]]:
    """How often each arm of these runs called each tool, the most called first."""
    found: dict[ArmName, list[ToolUse]] = {}
    for row in connection.execute(_TOOLS, {"runs": list(run_ids)}).mappings():
        arm = ArmName(*(row[name] for name in ARM_AXES), imported_from=row["imported_from"])
        found.setdefault(arm, []).append(ToolUse(row["tool"], row["calls"], row["errors"]))
    return found
