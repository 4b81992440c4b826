"""Scenarios by arms: c of n with its colour; choosing a cell shows its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison, Scenario
from dashboard.number_text import NONE
from dashboard.page_links import set_address
from passgrid.report.arms import ScenarioTally

MOST_ROWS = 300
_ROW = 22
_KEY = "scenario_grid"
SORTS = ("by name", "worst first", "most different first")


def address_of(scenario: Scenario) -> str:
    """A scenario as addresses write it."""
    return f"{scenario[0]}/{scenario[1]}"


def scenario_order(comparison: Comparison, sort: str) -> list[Scenario]:
    """Every scenario of any arm, in the order wanted."""
    rates: dict[Scenario, list[float]] = {}
    for arm in comparison.arms:
        for one in arm.report.scenarios:
            known = rates.setdefault((one.suite, one.scenario), [])
            if one.valid:
                known.append(one.passed / one.valid)
    if sort == SORTS[1]:
        return sorted(rates, key=lambda one: (sum(rates[one]) / len(rates[one]) if rates[one] else 2.0, one))
    if sort == SORTS[2]:
        return sorted(rates, key=lambda one: (min(rates[one]) - max(rates[one]) if rates[one] else 0.0, one))
    return sorted(rates)


def scenario_grid(comparison: Comparison, order: Sequence[Scenario]) -> None:
    """The grid; a click on a cell writes its scenario into the address."""
    shown = order[:MOST_ROWS]
    with st.container(height=min(560, _ROW * len(shown) + 60), border=False):
        st.altair_chart(
            _chart(comparison.arms, shown),
            key=_KEY,
            on_select=_clicked,
            selection_mode="cell",
            alt="Passed of valid attempts, scenarios by arms",
        )
    if len(order) > len(shown):
        st.caption(f"The first {len(shown)} of {len(order)} scenarios; filter by suite or tag to see the others.")


def _clicked() -> None:
    selected: Any = st.session_state[_KEY].selection.cell
    if selected:
        set_address(scenario=str(selected[0]["address"]))


def _chart(arms: Sequence[ComparedArm], shown: Sequence[Scenario]) -> Any:
    names = _row_names(shown)
    rows = [
        _cell(arm, one, names[(one.suite, one.scenario)])
        for arm in arms
        for one in arm.report.scenarios
        if (one.suite, one.scenario) in names
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("arm:N", sort=[arm.letter for arm in arms], title=None).axis(
            orient="top", labelAngle=0, labelFontWeight="bold", domain=False, ticks=False
        ),
        y=alt.Y("row:N", sort=list(names.values()), title=None).axis(
            labelLimit=150, labelFlush=False, domain=False, ticks=False
        ),
    )
    clicked = alt.selection_point(name="cell", fields=["address"], on="click", empty=True)
    tooltip = [alt.Tooltip(name, type="nominal") for name in ("scenario", "compared arm", "passed", "coverage")]
    cells = base.mark_rect(stroke="white", strokeWidth=2, cornerRadius=4, cursor="pointer").encode(
        color=alt.condition(
            "!datum.known",
            alt.value("#E5E7EB"),
            alt.Color(
                "rate:Q",
                scale=alt.Scale(domain=[0, 1], scheme="blues"),
                legend=None,
            ),
        ),
        tooltip=tooltip,
    )
    texts = base.mark_text(fontSize=12, cursor="pointer").encode(
        text="text:N",
        color=alt.condition("datum.rate > 0.55", alt.value("white"), alt.value("#1F2937")),
        tooltip=tooltip,
    )
    return alt.layer(cells, texts).add_params(clicked).properties(height=alt.Step(_ROW))


def _row_names(shown: Sequence[Scenario]) -> dict[Scenario, str]:
    """The suite is named only where there are several."""
    several = len({suite for suite, _ in shown}) > 1
    return {(suite, name): f"{suite}/{name}" if several else name for suite, name in shown}


def _cell(arm: ComparedArm, one: ScenarioTally, row: str) -> dict[str, Any]:
    missing = "" if one.valid == one.wanted else "*"
    return {
        "arm": arm.letter,
        "row": row,
        "address": address_of((one.suite, one.scenario)),
        "rate": one.passed / one.valid if one.valid else 0.0,
        "known": one.valid > 0,
        "text": f"{one.passed}/{one.valid}{missing}" if one.valid else NONE,
        "scenario": f"{one.suite}/{one.scenario}",
        "compared arm": arm.title,
        "passed": f"{one.passed} of {one.valid} valid",
        "coverage": f"{one.valid} of {one.wanted} wanted",
    }
