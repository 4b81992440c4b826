"""Which arms and tags there are: what a reader is offered to choose from, without loading every attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from passgrid.report.facts import ArmName
from passgrid.warehouse.analysis.store import AnalysisStore

StoreError = duckdb.Error
"""What reading raises when a published file cannot be read."""


@dataclass(frozen=True, slots=True)
class ArmRow:
    """One arm of one run, for lists."""

    name: ArmName
    wanted: int
    valid: int
    suites: tuple[str, ...]
    imported: tuple[str, ...]
    """Names of checks whose verdicts came with imported results."""


_AXES = "model, prompt, target, fault, mitigation, agent"

_ARMS = f"""
SELECT run_id, r.label, r.mode, r.imported_from, {_AXES}, count(*) AS wanted, count(*) FILTER (WHERE valid) AS valid,
    list_sort(list(DISTINCT suite)) AS suites
FROM attempts a JOIN runs r USING (run_id) GROUP BY ALL ORDER BY max(r.created_at) DESC, run_id, {_AXES}
"""  # noqa: S608 - names of ours

_IMPORTED = f"""
SELECT run_id, {_AXES}, list_sort(list(DISTINCT c.name)) AS names
FROM checks c JOIN attempts a USING (attempt_key) WHERE c.imported GROUP BY ALL
"""  # noqa: S608

_TAGS = """
SELECT suite, scenario, list_sort(list(DISTINCT tag)) AS tags
FROM (SELECT suite, scenario, unnest(tags) AS tag FROM attempts WHERE run_id IN (SELECT unnest(?))) GROUP BY ALL
"""


def arm_rows(store: AnalysisStore) -> list[ArmRow]:
    """Every arm of every run, the newest run first."""
    imported = {row[:-1]: tuple(row[-1]) for row in _rows(store, _IMPORTED)}
    found: list[ArmRow] = []
    for run_id, label, mode, source, *axes, wanted, valid, suites in _rows(store, _ARMS):
        checks = imported.get((run_id, *axes), ())
        name = ArmName(run_id, label, mode, *axes, imported_from=source)
        found.append(ArmRow(name, wanted, valid, tuple(suites), checks))
    return found


def scenario_tags(store: AnalysisStore, run_ids: Sequence[str]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Tags by (suite, scenario); scenarios without tags are left out."""
    return {(suite, scenario): tuple(tags) for suite, scenario, tags in _rows(store, _TAGS, [list(run_ids)])}


def _rows(store: AnalysisStore, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(store.file), read_only=True) as connection:
        return connection.execute(query, list(parameters)).fetchall()
