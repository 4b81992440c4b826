"""The choosers of Attempt: run, scenario, arm and sample. The address is the truth; choosing writes into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from dashboard.arm_names import arm_key, short_names
from dashboard.notices import unknown
from dashboard.open_store import OpenStore, facts
from dashboard.page_links import ATTEMPT, arrived, remember_attempt, remembered_attempt, set_address
from dashboard.plain_text import one_line
from passgrid.report.facts import ArmName, AttemptFact
from passgrid.warehouse.analysis.store import RunRow


def choose_attempt(opened: OpenStore) -> tuple[AttemptFact, list[AttemptFact]] | None:
    """The attempt the address names, and all of its cell in order; None where there is nothing to choose from."""
    fresh = arrived(ATTEMPT)
    run_given, attempt_given = st.query_params.get("run", ""), st.query_params.get("attempt", "")
    nothing_given = not run_given and not attempt_given
    if nothing_given:
        run_given, attempt_given = remembered_attempt()
    runs = [run for run in opened.store.runs() if run.wanted]
    if not runs:
        return None
    run = _run_of(runs, run_given)
    of_run = facts(opened, run.run_id)
    if not of_run:
        return None
    fact = _fact_of(of_run, attempt_given)
    columns = st.columns([3, 3, 3, 2])
    with columns[0]:
        _select(
            "Run",
            "run",
            [one.run_id for one in runs],
            run.run_id,
            _run_name(runs),
            lambda chosen: show_attempt(chosen, ""),
        )
    _within_run(of_run, fact, columns[1:])
    remember_attempt(run.run_id, fact.attempt_id)
    if fresh and nothing_given:
        set_address(run=run.run_id, attempt=fact.attempt_id)
    return fact, _cell(of_run, fact.arm, (fact.suite, fact.scenario))


def _run_of(runs: Sequence[RunRow], given: str) -> RunRow:
    found = [run for run in runs if run.run_id == given or (len(given) >= 4 and run.run_id.startswith(given))]
    if given and not found:
        unknown("The run", given)
    return found[0] if found else runs[0]


def _fact_of(of_run: Sequence[AttemptFact], given: str) -> AttemptFact:
    found = [one for one in of_run if one.attempt_id == given or (len(given) >= 4 and one.attempt_id.startswith(given))]
    if given and not found:
        unknown("The attempt", given)
    return found[0] if found else min(of_run, key=lambda one: (one.suite, one.scenario, one.sample))


def _run_name(runs: Sequence[RunRow]) -> Callable[[str], str]:
    names = {run.run_id: one_line(f"{run.label} · {_origin(run)} · {run.run_id[:8]}") for run in runs}
    return lambda run_id: names.get(run_id, run_id)


def _origin(run: RunRow) -> str:
    return run.mode if run.imported_from is None else f"imported from {run.imported_from}"


def _within_run(of_run: Sequence[AttemptFact], fact: AttemptFact, columns: Sequence[Any]) -> None:
    """Scenario, arm and sample; another scenario or arm keeps the sample where it has it."""
    here = (fact.suite, fact.scenario)
    scenarios = {"/".join(one): one for one in sorted({(one.suite, one.scenario) for one in of_run})}
    arms = {arm_key(one.arm): one.arm for one in of_run if (one.suite, one.scenario) == here}
    names = dict(zip(arms, short_names(list(arms.values())), strict=True))
    cell = {one.attempt_id: one for one in _cell(of_run, fact.arm, here)}

    def go_to_scenario(chosen: str) -> None:
        of_scenario = [one for one in of_run if (one.suite, one.scenario) == scenarios[chosen]]
        _go_to(_cell(of_run, fact.arm, scenarios[chosen]) or of_scenario, fact)

    def go_to_arm(chosen: str) -> None:
        _go_to(_cell(of_run, arms[chosen], here), fact)

    with columns[0]:
        _select("Scenario", "scenario", list(scenarios), "/".join(here), one_line, go_to_scenario)
    with columns[1]:
        _select("Arm", "arm", list(arms), arm_key(fact.arm), lambda key: names.get(key, key), go_to_arm)
    with columns[2]:
        said = {key: f"{one.sample}: {one_line(one.outcome or 'unfinished')}" for key, one in cell.items()}
        _select(
            "Sample",
            "sample",
            list(cell),
            fact.attempt_id,
            lambda key: said.get(key, key),
            lambda chosen: show_attempt(fact.arm.run, chosen),
        )


def _cell(of_run: Sequence[AttemptFact], arm: ArmName, scenario: tuple[str, str]) -> list[AttemptFact]:
    found = [one for one in of_run if one.arm == arm and (one.suite, one.scenario) == scenario]
    return sorted(found, key=lambda one: one.sample)


def _select(
    title: str, name: str, options: Sequence[str], now: str, named: Callable[[str], str], go: Callable[[str], None]
) -> None:
    key = f"attempt_{name}"
    st.session_state[key] = now
    st.selectbox(title, options, key=key, format_func=named, on_change=lambda: go(st.session_state[key]))


def _go_to(cell: Sequence[AttemptFact], before: AttemptFact) -> None:
    same = [one for one in cell if one.sample == before.sample]
    target = (same or list(cell))[0]
    show_attempt(target.arm.run, target.attempt_id)


def show_attempt(run_id: str, attempt_id: str) -> None:
    """Make the address name this attempt: for callbacks, which run before the page reads it."""
    set_address(run=run_id, attempt=attempt_id)
    remember_attempt(run_id, attempt_id)
