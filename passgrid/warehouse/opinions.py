"""Verdicts of checks and judges on the attempts of a run."""

from __future__ import annotations

import sqlalchemy as sa

_VERDICTS = sa.text("""
SELECT scenario, sample, attempts.passed, checks.passed AS judged, checks.name IS NOT NULL AS asked
FROM attempts JOIN cells ON cells.key = cell_key
    LEFT JOIN checks ON checks.attempt_key = attempts.key AND checks.kind = 'judge'
WHERE attempts.run_id = :run AND attempts.valid ORDER BY attempts.key
""")


def opinions(connection: sa.Connection, run_id: str) -> dict[str, dict[tuple[str, int], bool | None]]:
    """By rater, checks or judge, the verdict on each valid attempt by scenario and sample; a judge only where asked.

    Of several arms of a run the first counts: labels name scenario and sample alone.
    """
    found: dict[str, dict[tuple[str, int], bool | None]] = {"checks": {}}
    for row in connection.execute(_VERDICTS, {"run": run_id}):
        place = (row.scenario, row.sample)
        found["checks"].setdefault(place, row.passed)
        if row.asked:
            found.setdefault("judge", {}).setdefault(place, row.judged)
    return found
