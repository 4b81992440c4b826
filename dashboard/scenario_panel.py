"""The attempts of one scenario, arm by arm, each a link."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.comparison import ComparedArm, Comparison, Scenario
from dashboard.number_text import count
from dashboard.page_links import link_to_attempt, set_address
from dashboard.plain_text import label, one_line
from dashboard.scenario_chart import SORTS, address_of, scenario_grid, scenario_order
from passgrid.report.facts import AttemptFact

MOST_LINKS = 24
_KEY = "choose_scenario"


def scenario_section(comparison: Comparison) -> None:
    """The chooser and the attempts beside the grid."""
    left, right = st.columns([4, len(comparison.arms) + 1.5], gap="large")
    with left:
        sort = st.selectbox("Order of scenarios", SORTS, key="sort_scenarios")
        order = scenario_order(comparison, sort)
        chosen = _choose(order)
        for arm in comparison.arms:
            _attempts(arm, chosen)
    with right:
        scenario_grid(comparison, order)
        partial = any(one.valid < one.wanted for arm in comparison.arms for one in arm.report.scenarios)
        st.caption("The darker, the more passed." + (" \\* some attempts have no valid outcome." if partial else ""))


def _choose(order: Sequence[Scenario]) -> Scenario:
    by_address = {address_of(one): one for one in order}
    given = st.query_params.get("scenario", "")
    st.session_state[_KEY] = given if given in by_address else next(iter(by_address))
    chosen: str = st.selectbox(
        "Scenario (or click a cell)", list(by_address), key=_KEY, format_func=one_line, on_change=_write
    )
    return by_address[chosen]


def _write() -> None:
    set_address(scenario=st.session_state[_KEY])


def _attempts(arm: ComparedArm, scenario: Scenario) -> None:
    of_cell = sorted(
        (fact for fact in arm.facts if (fact.suite, fact.scenario) == scenario), key=lambda fact: fact.sample
    )
    passed = sum(fact.passed for fact in of_cell)
    valid = sum(fact.valid for fact in of_cell)
    said = f"{passed} of {valid} valid passed" if of_cell else "not in this arm"
    st.markdown(f"**{arm.letter}** {label(arm.name)}: {said}")
    with st.container(horizontal=True, gap="small"):
        for fact in of_cell[:MOST_LINKS]:
            _link(fact)
    if len(of_cell) > MOST_LINKS:
        st.caption(f"The first {MOST_LINKS} of {count(len(of_cell))}; the Attempt page leads to the others.")


def _link(fact: AttemptFact) -> None:
    mark = "✓" if fact.passed else "✗" if fact.valid else "–"
    link_to_attempt(f"{mark} sample {fact.sample} {fact.outcome or 'unfinished'}", fact.arm.run, fact.attempt_id)
