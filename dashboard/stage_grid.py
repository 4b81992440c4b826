"""Scenarios by stages for one arm: reached of valid with its colour; choosing a cell shows its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import streamlit as st

from dashboard.comparison import ComparedArm, Comparison, Scenario
from dashboard.number_text import count
from dashboard.page_links import link_to_attempt, set_address
from dashboard.plain_text import label, one_line
from dashboard.scenario_chart import MOST_ROWS, address_of
from passgrid.report.facts import AttemptFact

MOST_LINKS = 24
_ROW = 24
_KEY = "stage_grid"


@dataclass(frozen=True, slots=True)
class _Cell:
    """One scenario at one stage."""

    scenario: Scenario
    stage: str
    reached: int
    of: int


def grid_section(comparison: Comparison, order: Sequence[str]) -> None:
    """The choosers, the grid of the arm chosen, and the attempts of the cell chosen, in every arm."""
    left, right = st.columns([3, 4], gap="large")
    with right:
        letters = {arm.letter: arm for arm in comparison.arms if arm.report.stages}
        letter = next(iter(letters))
        if len(letters) > 1:
            given = st.query_params.get("of", "")
            st.session_state["stage_arm"] = given if given in letters else letter
            letter = st.selectbox(
                "Arm",
                list(letters),
                key="stage_arm",
                format_func=lambda one: letters[one].title,
                on_change=lambda: set_address(of=st.session_state["stage_arm"]),
            )
        cells = _cells(letters[letter], order)
        _grid(letters[letter], cells, order)
    with left:
        scenario, stage = _choose(comparison, order)
        for arm in comparison.arms:
            _attempts(arm, scenario, stage)


def _cells(arm: ComparedArm, order: Sequence[str]) -> list[_Cell]:
    """Those that are expected; the scenarios that fall over most come first."""
    found: dict[tuple[Scenario, str], list[bool]] = {}
    for fact in arm.facts:
        if fact.valid:
            for stage, there in fact.stages.items():
                found.setdefault(((fact.suite, fact.scenario), stage), []).append(there)
    cells = [_Cell(scenario, stage, sum(there), len(there)) for (scenario, stage), there in found.items()]
    shares: dict[Scenario, list[float]] = {}
    for cell in cells:
        shares.setdefault(cell.scenario, []).append(cell.reached / cell.of)
    mean = {scenario: sum(of) / len(of) for scenario, of in shares.items()}
    return sorted(cells, key=lambda one: (mean[one.scenario], one.scenario, order.index(one.stage)))


def _grid(arm: ComparedArm, cells: Sequence[_Cell], order: Sequence[str]) -> None:
    scenarios = list(dict.fromkeys(cell.scenario for cell in cells))
    shown = set(scenarios[:MOST_ROWS])
    rows = [_row(arm, cell) for cell in cells if cell.scenario in shown]
    with st.container(height=min(620, _ROW * len(shown) + 130), border=False):
        st.altair_chart(
            _chart(rows, [one_line(stage, 40) for stage in order]),
            key=_KEY,
            on_select=_clicked,
            selection_mode="cell",
            alt="Stages reached, scenarios by stages",
        )
    st.caption(
        "Reached of valid attempts, the scenarios that fall over most first; the darker, the more. Blank: the scenario "
        "does not expect the stage."
    )
    if len(scenarios) > len(shown):
        st.caption(f"The first {len(shown)} of {count(len(scenarios))} scenarios; filter to see the others.")


def _clicked() -> None:
    selected: Any = st.session_state[_KEY].selection.cell
    if selected:
        set_address(scenario=str(selected[0]["address"]), stage=str(selected[0]["key"]))


def _chart(rows: list[dict[str, Any]], order: list[str]) -> Any:
    names = list(dict.fromkeys(row["row"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("stage:N", sort=order, title=None, scale=alt.Scale(domain=order)).axis(
            orient="top", labelAngle=-50, labelLimit=110, labelOverlap=False, domain=False, ticks=False
        ),
        y=alt.Y("row:N", sort=names, title=None).axis(labelLimit=130, labelFlush=False, domain=False, ticks=False),
        tooltip=[alt.Tooltip(name, type="nominal") for name in ("scenario", "stage", "compared arm", "reached")],
    )
    clicked = alt.selection_point(name="cell", fields=["address", "key"], on="click", empty=True)
    colour = alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], scheme="blues"), legend=None)
    cells = base.mark_rect(stroke="white", strokeWidth=2, cornerRadius=4, cursor="pointer").encode(color=colour)
    texts = base.mark_text(fontSize=10, cursor="pointer").encode(
        text="text:N", color=alt.condition("datum.share > 0.55", alt.value("white"), alt.value("#1F2937"))
    )
    return alt.layer(cells, texts).add_params(clicked).properties(height=alt.Step(_ROW))


def _row(arm: ComparedArm, cell: _Cell) -> dict[str, Any]:
    return {
        "row": one_line(cell.scenario[1], 60),
        "address": address_of(cell.scenario),
        "stage": one_line(cell.stage, 40),
        "key": cell.stage,
        "share": cell.reached / cell.of,
        "text": f"{cell.reached}/{cell.of}",
        "scenario": one_line(address_of(cell.scenario)),
        "compared arm": arm.title,
        "reached": f"{cell.reached} of {cell.of} valid",
    }


def _choose(comparison: Comparison, order: Sequence[str]) -> tuple[Scenario, str]:
    """What the address names, or the cell that fell over most."""
    cells = [cell for arm in comparison.arms for cell in _cells(arm, order)]
    worst = min(cells, key=lambda one: (one.reached / one.of, one.scenario, order.index(one.stage)))
    by_address = {address_of(one.scenario): one.scenario for one in sorted(cells, key=lambda one: one.scenario)}
    scenario = _select("Scenario (or click a cell)", "scenario", list(by_address), address_of(worst.scenario))
    expected = [
        stage for stage in order if any(one.stage == stage and address_of(one.scenario) == scenario for one in cells)
    ]
    stage = _select("Stage", "stage", expected, worst.stage if worst.stage in expected else expected[0])
    return by_address[scenario], stage


def _select(title: str, parameter: str, offered: Sequence[str], otherwise: str) -> str:
    key, given = f"stage_{parameter}", st.query_params.get(parameter, "")
    st.session_state[key] = given if given in offered else otherwise
    return st.selectbox(
        title,
        offered,
        key=key,
        format_func=one_line,
        on_change=lambda: set_address(**{parameter: st.session_state[key]}),
    )


def _attempts(arm: ComparedArm, scenario: Scenario, stage: str) -> None:
    of_cell = sorted((one for one in arm.facts if (one.suite, one.scenario) == scenario), key=lambda one: one.sample)
    expected = [one for one in of_cell if one.valid and stage in one.stages]
    reached = sum(one.stages[stage] for one in expected)
    said = (
        f"{reached} of {len(expected)} valid reached {label(stage)}" if expected else "nobody was expected to reach it"
    )
    st.markdown(f"**{arm.letter}** {label(arm.name)}: {said if of_cell else 'not in this arm'}")
    with st.container(horizontal=True, gap="small"):
        for fact in of_cell[:MOST_LINKS]:
            _link(fact, stage)
    if len(of_cell) > MOST_LINKS:
        st.caption(f"The first {MOST_LINKS} of {count(len(of_cell))}; the Attempt page leads to the others.")


def _link(fact: AttemptFact, stage: str) -> None:
    """Marked by whether it reached the stage."""
    mark = "–" if not fact.valid or stage not in fact.stages else "✓" if fact.stages[stage] else "✗"
    link_to_attempt(f"{mark} sample {fact.sample} {fact.outcome or 'unfinished'}", fact.arm.run, fact.attempt_id)
