"""One card for each arm: its rates with n, coverage and interval, and how its tools answered."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison
from dashboard.number_text import between, count, rate, share
from dashboard.palette import LETTERS, Badge
from dashboard.plain_text import label, one_line
from passgrid.statistics import Curve, CurvePoint

_BADGES: tuple[Badge, ...] = ("blue", "orange", "green", "violet", "yellow", "blue", "violet", "gray")


def headline_cards(comparison: Comparison) -> None:
    """The cards, in the order the arms were chosen."""
    for arm in comparison.arms:
        with st.container(border=True):
            arm_title(arm)
            with st.container(horizontal=True, gap="medium"):
                _figures(arm, comparison.most_k)


def arm_title(arm: ComparedArm) -> None:
    """Its letter, name and where it comes from, in one line."""
    name = arm.row.name
    number = len(arm.report.scenarios)
    scenarios = "1 scenario" if number == 1 else f"{count(number)} scenarios"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(arm.letter, color=_BADGES[LETTERS.index(arm.letter)])
        st.markdown(f"**{label(arm.name)}**", width="content")
        said = [name.prompt, name.label, name.mode, f"run {name.run[:8]}", scenarios]
        st.caption(" · ".join(map(label, said)), width="content")
        if name.imported_from is not None:
            source = label(one_line(name.imported_from, 40))
            st.badge(
                f"imported from {source}", color="violet", help="Another tool measured and judged; Passgrid did not."
            )
        elif arm.row.imported:
            checks = ", ".join(one_line(check, 40) for check in arm.row.imported)
            st.badge(f"verdicts imported: {label(checks)}", color="gray", help="Another tool judged; Passgrid did not.")


def _figures(arm: ComparedArm, most_k: int) -> None:
    said = arm.report
    covered = said.coverage
    if arm.withheld:
        note = f"coverage {share(covered.share)} is below 95 %: between {between(covered.low, covered.high)}"
        figure("Pass rate", "withheld", note, wide=True)
    else:
        _point("One attempt passes", "@", said.pass_at, 1)
        if most_k > 1:
            _point(f"At least 1 of {most_k} passes", "@", said.pass_at, most_k)
            _point(f"All {most_k} attempts pass", "^", said.pass_hat, most_k)
    valid = f"n = {count(covered.valid)} of {count(covered.wanted)}"
    figure("Valid attempts", valid, f"coverage {share(covered.share)}")
    figure("Tool calls", count(said.tool_calls), _answered(arm))


def _point(meaning: str, sign: str, curve: Curve, k: int) -> None:
    point: CurvePoint | None = next((one for one in curve.points if one.k == k), None)
    if point is None:
        figure(meaning, f"pass{sign}{k} = –", "not enough valid attempts")
        return
    few = ", n < 2k" if point.sparse else ""
    figure(meaning, f"pass{sign}{k} = {rate(point.value)}", f"95 %: {between(point.low, point.high)}{few}")


def figure(title: str, value: str, note: str, *, wide: bool = False) -> None:
    """One number of a card, with a note below."""
    st.metric(title, value, delta=note, delta_color="off", delta_arrow="off", width=420 if wide else 205)


def _answered(arm: ComparedArm) -> str:
    """How the calls were answered, the most frequent way first; calls that reached no tool included."""
    ways: Counter[str] = Counter()
    for fact in arm.facts:
        ways.update(fact.answers)
    if len(ways) == 1:
        return f"all {next(iter(ways))}" if ways.total() > 1 else next(iter(ways))
    return " · ".join(f"{way} {count(number)}" for way, number in ways.most_common()) or "none"
