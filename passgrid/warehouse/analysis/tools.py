"""How arms used their tools, out of the analysis file: what the dashboard asks of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from passgrid.report.facts import ArmName
from passgrid.warehouse.analysis.store import AnalysisStore


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool of one arm, over all its attempts, valid or not."""

    server: str
    tool: str
    calls: int
    errors: int
    """Calls that ended in an error: wasted."""
    attempts: int
    """That called it."""
    median_ms: float | None
    """None: no call has a known duration."""
    p90_ms: float | None
    offered: bool
    """Its server listed it; False too where nobody knows what was listed."""
    reads: bool | None
    """Its server says it only reads; None: the server does not say, or what was offered is not known."""


_OF_ARM = """
run_id = ? AND model = ? AND prompt = ? AND target = ? AND fault = ? AND mitigation = ? AND agent = ?
AND (? OR suite || '/' || scenario IN (SELECT unnest(cast(? AS VARCHAR[]))))
"""

_USED = f"""
WITH mine AS (SELECT attempt_key, surface FROM attempts WHERE {_OF_ARM}),
offered AS (
    SELECT server, tool, bool_and(reads) AS reads, true AS offered FROM offered_tools
    WHERE surface IN (SELECT surface FROM mine) GROUP BY ALL
),
used AS (
    SELECT server, tool, count(*) AS calls, count(*) FILTER (WHERE error) AS errors,
        count(DISTINCT attempt_key) AS attempts, median(duration_ms) AS median_ms,
        quantile_cont(duration_ms, 0.9) AS p90_ms
    FROM tool_calls JOIN mine USING (attempt_key) GROUP BY ALL
)
SELECT server, tool, coalesce(calls, 0) AS calls, coalesce(errors, 0) AS errors, coalesce(attempts, 0) AS attempts,
    median_ms, p90_ms, coalesce(offered, false) AS offered, reads
FROM used FULL JOIN offered USING (server, tool) ORDER BY calls DESC, tool, server
"""  # noqa: S608 - names of ours


def tool_rows(store: AnalysisStore, arm: ArmName, kept: Collection[tuple[str, str]] | None) -> list[ToolRow]:
    """The tools of an arm over the scenarios kept (None: all), the most called first; last, those never called."""
    axes = [arm.run, arm.model, arm.prompt, arm.target, arm.fault, arm.mitigation, arm.agent]
    scenarios = [f"{suite}/{name}" for suite, name in kept or ()]
    return [ToolRow(*row) for row in _rows(store, _USED, [*axes, kept is None, scenarios])]


_STAGES = """
WITH placed AS (
    SELECT c.name, row_number() OVER (PARTITION BY attempt_key ORDER BY c.rowid) AS place
    FROM checks c JOIN attempts a USING (attempt_key) WHERE a.run_id IN (SELECT unnest(?)) AND c.stage
)
SELECT name FROM placed GROUP BY name ORDER BY avg(place), name
"""


def stage_order(store: AnalysisStore, run_ids: Sequence[str]) -> list[str]:
    """Stages in the order they were written, which is that of their scenarios or files."""
    return [name for (name,) in _rows(store, _STAGES, [list(run_ids)])]


_FLAGGED = """
SELECT a.attempt_id, f.name, f.detail FROM flags f JOIN attempts a USING (attempt_key)
WHERE a.run_id = ? ORDER BY f.name, a.attempt_key
"""


def flag_details(store: AnalysisStore, run_id: str) -> dict[tuple[str, str], str]:
    """What detectors saw in a run, by attempt and detector."""
    return {(attempt, name): detail for attempt, name, detail in _rows(store, _FLAGGED, [run_id])}


def _rows(store: AnalysisStore, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(store.file), read_only=True) as connection:
        return connection.execute(query, list(parameters)).fetchall()
