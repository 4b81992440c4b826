"""How far attempts got: the stages of the scenarios, by arm, with their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.comparison import Comparison
from dashboard.data_table import data_table
from dashboard.number_text import NONE, count, share
from dashboard.plain_text import one_line


def stage_table(comparison: Comparison, stages: Sequence[str]) -> None:
    """These stages, in this order."""
    rows = [
        {"stage": one_line(stage), **{arm.title: _reached(arm.report.stages.get(stage)) for arm in comparison.arms}}
        for stage in stages
    ]
    data_table(rows, "Stages reached by arm", left=["stage"])


def _reached(found: tuple[int, int] | None) -> str:
    if found is None or not found[1]:
        return NONE
    return f"{count(found[0])} of {count(found[1])} ({share(found[0] / found[1])})"
