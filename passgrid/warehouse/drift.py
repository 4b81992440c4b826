"""What runs found out about drift: written with each attempt, read by arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from passgrid.drift.account import DriftAccount
from passgrid.drift.report import DriftArm, drift_arms
from passgrid.warehouse.texts import stored_json, stored_text

TOOL_COLUMNS = ("attempt_key", "server", "tool", "calls", "compared", "equal", "missing")
FINDING_COLUMNS = (
    "attempt_key", "n", "part", "server", "tool", "place", "change", "severity", "recorded", "live", "count",
)  # fmt: skip


def tool_rows(key: int, account: DriftAccount) -> Iterator[tuple[Any, ...]]:
    """The rows of one attempt in `drift_tools`."""
    for one in account.tools:
        yield (
            key, stored_text(one.server), stored_text(one.tool), one.calls, one.compared, one.equal, one.missing,
        )  # fmt: skip


def finding_rows(key: int, account: DriftAccount) -> Iterator[tuple[Any, ...]]:
    """The rows of one attempt in `drift_findings`."""
    for n, one in enumerate(account.findings):
        yield (
            key, n, one.part, stored_text(one.server), stored_text(one.tool), stored_text(one.place),
            stored_text(one.change), str(one.severity), stored_json(one.recorded), stored_json(one.live), one.count,
        )  # fmt: skip


_AXES = "c.model, c.prompt, c.target, c.fault, c.mitigation, c.agent"
_ARMS = sa.text(
    f"SELECT a.run_id, r.label, r.mode, {_AXES}, count(*) AS wanted, "  # noqa: S608 - names of ours
    "count(*) FILTER (WHERE a.valid) AS valid "
    "FROM attempts a JOIN cells c ON c.key = a.cell_key JOIN runs r ON r.run_id = a.run_id "
    f"WHERE a.run_id = ANY(:runs) GROUP BY a.run_id, r.label, r.mode, {_AXES} ORDER BY min(c.key)"
)
_OF_RUNS = (
    "JOIN attempts a ON a.key = t.attempt_key JOIN cells c ON c.key = a.cell_key JOIN runs r ON r.run_id = a.run_id "
    "WHERE a.run_id = ANY(:runs)"
)
_TOOLS = sa.text(
    f"SELECT a.run_id, r.label, r.mode, {_AXES}, t.server, t.tool, sum(t.calls) AS calls, "  # noqa: S608
    "sum(t.compared) AS compared, sum(t.equal) AS equal, bool_or(t.missing) AS missing "
    f"FROM drift_tools t {_OF_RUNS} "
    f"GROUP BY a.run_id, r.label, r.mode, {_AXES}, t.server, t.tool ORDER BY t.tool, t.server"
)
_FINDINGS = sa.text(
    f"SELECT a.run_id, r.label, r.mode, {_AXES}, t.part, t.server, t.tool, t.place, t.change, "  # noqa: S608
    "t.severity, sum(t.count) AS count, (array_agg(t.recorded ORDER BY a.key))[1] AS recorded, "
    "(array_agg(t.live ORDER BY a.key))[1] AS live, (array_agg(a.attempt_id ORDER BY a.key))[1] AS attempt "
    f"FROM drift_findings t {_OF_RUNS} "
    f"GROUP BY a.run_id, r.label, r.mode, {_AXES}, t.part, t.server, t.tool, t.place, t.change, t.severity"
)


def read_drift(connection: sa.Connection, run_ids: Sequence[str]) -> list[DriftArm]:
    """The drift every arm of these runs saw; arms that compared nothing have no tool and no finding."""
    runs = {"runs": list(run_ids)}
    arms, tools, findings = (
        [dict[str, Any](row) for row in connection.execute(query, runs).mappings()]
        for query in (_ARMS, _TOOLS, _FINDINGS)
    )
    return drift_arms(arms, tools, findings)
