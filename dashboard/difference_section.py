"""Each arm against the first one, paired by scenario: the verdict in words, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.data_table import data_table
from dashboard.number_text import NONE
from dashboard.open_store import OpenStore, comparisons
from dashboard.palette import Badge
from dashboard.plain_text import label
from passgrid.report.comparison import ArmComparison
from passgrid.report.words import (
    MEASURE_NAMES,
    advice_text,
    axes_text,
    change_text,
    comparison_text,
    missing_text,
    p_text,
)

_LETTER = 7.2
"""Pixels of a letter in a table, at most."""
_COLOURS: dict[str, Badge] = {"better": "green", "worse": "red"}


def difference_section(opened: OpenStore, comparison: Comparison) -> None:
    """Nothing with fewer than two arms."""
    if len(comparison.arms) < 2:
        return
    baseline = next((arm for arm in comparison.arms if not arm.withheld), comparison.arms[0])
    others = [arm for arm in comparison.arms if arm is not baseline]
    found = comparisons(opened, baseline.report, [arm.report for arm in others], comparison.kept)
    st.subheader(f"Against {baseline.letter}")
    for arm, pair in zip(others, found, strict=True):
        _verdict(baseline, arm, pair)
    rows = [_row(arm, pair) for arm, pair in zip(others, found, strict=True) if not pair.withheld]
    if rows:
        data_table(rows, "Differences to the first arm", left=["arm"])
        _used_table([(arm, pair) for arm, pair in zip(others, found, strict=True) if not pair.withheld])
        st.caption(
            f"pass@1 minus that of {baseline.letter}; below, means of what attempts use, from {baseline.letter} to the "
            "arm. Both paired over the scenarios both have. p is two-sided (sign flips), that of pass@1 adjusted by "
            "Holm over the arms shown."
        )


def _verdict(baseline: ComparedArm, arm: ComparedArm, pair: ArmComparison) -> None:
    """One sentence, and below what it rests on."""
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(pair.finding, color=_COLOURS.get(pair.finding, "gray"))
            st.markdown(f"**{label(comparison_text(pair, baseline.letter, arm.letter), 600)}**", width="content")
        st.caption(label("; ".join(_notes(baseline, arm, pair)), 1500))


def _notes(baseline: ComparedArm, arm: ComparedArm, pair: ArmComparison) -> list[str]:
    notes = [f"{arm.title} {axes_text(pair)}", *missing_text(pair, baseline.letter, arm.letter)]
    if pair.finding == "no difference shown" and pair.advice is not None:
        notes.append(advice_text(pair.advice))
    return notes


def _row(arm: ComparedArm, pair: ArmComparison) -> dict[str, Any]:
    found = pair.difference
    interval = found.interval
    return {
        "arm": arm.title,
        "difference": NONE if found.mean is None else f"{found.mean:+.3f}".replace("-", "−"),
        "95 %": NONE if interval is None else f"{interval.low:+.2f} to {interval.high:+.2f}".replace("-", "−"),
        "verdict": pair.finding,
        "p": NONE if pair.adjusted_p is None else p_text(pair.adjusted_p),
        "scenarios": str(len(found.scenarios)),
        "better / worse / equal": f"{found.wins} / {found.losses} / {found.ties}",
    }


def _used_table(pairs: Sequence[tuple[ComparedArm, ArmComparison]]) -> None:
    """One row for each measure, one column for each arm, as wide as its sentences: one that is cut would mislead."""
    rows = [
        {"on average": name, **{arm.title: change_text(pair.changes[measure], measure) for arm, pair in pairs}}
        for measure, name in MEASURE_NAMES.items()
    ]
    widths = {
        arm.title: st.column_config.TextColumn(width=20 + round(_LETTER * max(len(row[arm.title]) for row in rows)))
        for arm, _ in pairs
    }
    data_table(rows, "What attempts use, beside the first arm", left=["on average"], **widths)
