"""Drift out of the analysis file: what the dashboard asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from passgrid.drift.report import DriftArm, drift_arms
from passgrid.warehouse.analysis.store import AnalysisStore

_AXES = "a.run_id, r.label, r.mode, a.model, a.prompt, a.target, a.fault, a.mitigation, a.agent"
_OF_RUNS = "attempts a JOIN runs r USING (run_id) WHERE a.run_id IN (SELECT unnest(?))"
_ARMS = f"""
SELECT {_AXES}, count(*) AS wanted, count(*) FILTER (WHERE a.valid) AS valid FROM {_OF_RUNS}
GROUP BY ALL ORDER BY min(a.attempt_key)
"""  # noqa: S608 - names of ours
_TOOLS = f"""
SELECT {_AXES}, t.server, t.tool, sum(t.calls) AS calls, sum(t.compared) AS compared, sum(t.equal) AS equal,
    bool_or(t.missing) AS missing
FROM drift_tools t JOIN {_OF_RUNS.replace(" JOIN runs", " USING (attempt_key) JOIN runs")}
GROUP BY ALL ORDER BY t.tool, t.server
"""  # noqa: S608
_FINDINGS = f"""
SELECT {_AXES}, t.part, t.server, t.tool, t.place, t.change, t.severity, sum(t.count) AS count,
    arg_min(t.recorded, attempt_key) AS recorded, arg_min(t.live, attempt_key) AS live,
    arg_min(a.attempt_id, attempt_key) AS attempt
FROM drift_findings t JOIN {_OF_RUNS.replace(" JOIN runs", " USING (attempt_key) JOIN runs")}
GROUP BY ALL
"""  # noqa: S608


def drift_of(store: AnalysisStore, run_ids: Sequence[str]) -> list[DriftArm]:
    """The drift every arm of these runs saw."""
    with duckdb.connect(str(store.file), read_only=True) as connection:
        arms, tools, findings = (_rows(connection, query, run_ids) for query in (_ARMS, _TOOLS, _FINDINGS))
    return drift_arms(arms, tools, findings)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, run_ids: Sequence[str]) -> list[dict[str, Any]]:
    found = connection.execute(query, [list(run_ids)])
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
