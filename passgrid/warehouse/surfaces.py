"""The tools that were listed in a run, and how they were used."""

from __future__ import annotations

from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.warehouse import blobs

_SURFACES = sa.text("""
SELECT DISTINCT suite, surface_hash FROM attempts JOIN cells ON cells.key = cell_key
WHERE attempts.run_id = :run AND surface_hash IS NOT NULL AND attempts.valid ORDER BY 1, 2
""")
_CALLS = sa.text("""
SELECT suite, tool, count(*) AS calls, count(DISTINCT scenario) AS scenarios
FROM tool_calls JOIN attempts ON attempts.key = attempt_key JOIN cells ON cells.key = cell_key
WHERE attempts.run_id = :run GROUP BY 1, 2
""")


def surfaces(connection: sa.Connection, run_id: str) -> dict[str, list[list[dict[str, Any]]]]:
    """By suite, the different lists of tools its attempts were offered."""
    rows = connection.execute(_SURFACES, {"run": run_id}).all()
    bodies = blobs.load(connection, {row.surface_hash for row in rows})
    found: dict[str, list[list[dict[str, Any]]]] = {}
    for row in rows:
        found.setdefault(row.suite, []).append(orjson.loads(bodies[row.surface_hash]))
    return found


def tool_calls_of(connection: sa.Connection, run_id: str) -> dict[str, dict[str, tuple[int, int]]]:
    """By suite and tool: calls, and scenarios with any."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for row in connection.execute(_CALLS, {"run": run_id}):
        found.setdefault(row.suite, {})[row.tool] = (row.calls, row.scenarios)
    return found
