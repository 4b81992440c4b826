"""The choosers of Compare, Stages and Tools: arms, suites, tags. The address is the truth; choosing writes into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from dashboard.arm_names import arm_key, full_name
from dashboard.comparison import Comparison, Scenario, compare
from dashboard.notices import unknown
from dashboard.number_text import count
from dashboard.open_store import OpenStore, arms, facts, tags
from dashboard.page_links import (
    arrived,
    link_to_runs,
    links_of_arms,
    remember_comparison,
    remembered_comparison,
    set_address,
)
from dashboard.palette import LETTERS, MOST_ARMS
from dashboard.plain_text import label, one_line
from passgrid.warehouse.analysis.arms import ArmRow

PARAMETERS = ("run", "arm", "suite", "tag", "shared")
_SHARED = "choose_shared"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen."""

    arms: tuple[ArmRow, ...]
    kept: frozenset[Scenario] | None
    """Scenarios that pass the filters; None without a filter."""


def compared_arms(opened: OpenStore, page: str) -> Comparison | None:
    """Draw the choosers and say what was chosen comes to; None, with what to do, where that is nothing."""
    choice = choose(opened, page)
    if not choice.arms:
        st.info("Choose at least one arm above, or start from a run:")
        link_to_runs("Runs →")
        return None
    links_of_arms(page)
    comparison = compare(opened, choice.arms, choice.kept)
    for name in comparison.without:
        st.warning(f"{label(name)} has no attempt of a scenario that passes the filter.")
    return comparison if comparison.arms else None


def choose(opened: OpenStore, page: str) -> Choice:
    """Draw the choosers and say what they hold."""
    _restore(page)
    offered = {arm_key(row.name): row for row in arms(opened)}
    chosen = _choose_arms(offered)
    runs = tuple(dict.fromkeys(row.name.run for row in chosen))
    suites = sorted({suite for row in chosen for suite in row.suites})
    tagged = tags(opened, runs) if runs else {}
    all_tags = sorted({tag for of_scenario in tagged.values() for tag in of_scenario})
    left, right = st.columns(2)
    with left:
        in_suites = _choose("suite", "Suites", suites, "all suites")
    with right:
        with_tags = _choose("tag", "Tags", all_tags, "all tags")
    sets = _sets_of(opened, chosen)
    shared = _choose_shared(sets)
    remember_comparison({name: st.query_params.get_all(name) for name in PARAMETERS})
    return Choice(tuple(chosen), _kept(sets, shared, tagged, in_suites, with_tags))


def _restore(page: str) -> None:
    """Coming here by the navigation, without parameters: what was shown last."""
    if arrived(page) and not any(name in st.query_params for name in PARAMETERS):
        set_address(**remembered_comparison())


def _choose_arms(offered: Mapping[str, ArmRow]) -> list[ArmRow]:
    keys = _arms_in_address(offered)
    known = [key for key in keys if key in offered][:MOST_ARMS]
    if missing := [key for key in keys if key not in offered]:
        unknown(f"{len(missing)} of the arms or runs" if len(missing) > 1 else "An arm or run", "\n".join(missing))
    elif len(keys) > MOST_ARMS:
        st.warning(f"The address names {count(len(keys))} arms; the first {MOST_ARMS} are shown.")
    st.session_state["choose_arm"] = known
    chosen = st.multiselect(
        f"Arms (up to {MOST_ARMS}, of any runs)",
        options=list(offered),
        format_func=lambda key: full_name(offered[key].name),
        key="choose_arm",
        max_selections=MOST_ARMS,
        placeholder="Choose arms to compare",
        on_change=_write,
        args=("arm",),
        select_all=False,
    )
    return [offered[key] for key in chosen]


def _arms_in_address(offered: Mapping[str, ArmRow]) -> list[str]:
    """Keys the address names: arms one by one, or all of a run; of an unknown run, what it says."""
    keys = st.query_params.get_all("arm")
    for run in st.query_params.get_all("run"):
        of_run = [key for key, row in offered.items() if len(run) >= 4 and row.name.run.startswith(run)]
        keys.extend(of_run or [run])
    return list(dict.fromkeys(keys))


def _choose(parameter: str, title: str, offered: Sequence[str], placeholder: str) -> list[str]:
    st.session_state[f"choose_{parameter}"] = [
        value for value in st.query_params.get_all(parameter) if value in offered
    ]
    return st.multiselect(
        title,
        options=list(offered),
        format_func=one_line,
        key=f"choose_{parameter}",
        placeholder=placeholder,
        on_change=_write,
        args=(parameter,),
        select_all=False,
        disabled=not offered,
    )


def _write(parameter: str) -> None:
    """A chooser changed: its value goes into the address, from where the page reads it."""
    value: list[str] = st.session_state[f"choose_{parameter}"]
    if parameter == "arm":
        set_address(run=(), arm=value)
    else:
        set_address(**{parameter: value})


def _sets_of(opened: OpenStore, chosen: Sequence[ArmRow]) -> list[set[Scenario]]:
    """The scenarios of each arm."""
    return [
        {(fact.suite, fact.scenario) for fact in facts(opened, row.name.run) if fact.arm == row.name} for row in chosen
    ]


def _choose_shared(sets: Sequence[set[Scenario]]) -> bool:
    """Arms with different scenarios: rates over different sets are not to be compared; say it, and offer a remedy."""
    if all(one == sets[0] for one in sets):
        return False
    common = len(set[Scenario].intersection(*sets))
    sizes = ", ".join(f"{letter} {count(len(one))}" for letter, one in zip(LETTERS, sets, strict=False))
    st.session_state[_SHARED] = st.query_params.get("shared") == "1"
    shared = st.toggle(
        f"Only the {count(common)} scenarios all arms have", key=_SHARED, on_change=_write_shared, disabled=not common
    )
    if not shared:
        st.warning(f"The arms do not have the same scenarios ({sizes}): their rates are means over different sets.")
    return shared


def _write_shared() -> None:
    set_address(shared="1" if st.session_state[_SHARED] else "")


def _kept(
    sets: Sequence[set[Scenario]],
    shared: bool,
    tagged: Mapping[Scenario, Sequence[str]],
    suites: Sequence[str],
    with_tags: Sequence[str],
) -> frozenset[Scenario] | None:
    if not suites and not with_tags and not shared:
        return None
    scenarios = set[Scenario].intersection(*sets) if shared else set[Scenario].union(*sets)
    return frozenset(
        one
        for one in scenarios
        if (not suites or one[0] in suites) and (not with_tags or set(with_tags) & set(tagged.get(one, ())))
    )
