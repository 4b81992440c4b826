"""How an attempt ended and what it used: outcome, reason, numbers, checks and tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.arm_names import full_name
from dashboard.data_table import data_table
from dashboard.number_text import NONE, compact, count, dollars, moment, seconds
from dashboard.palette import outcome_badge
from dashboard.plain_text import label, one_line, visible
from passgrid.report.facts import AttemptFact
from passgrid.warehouse.analysis.store import CheckRow, FlagRow, TryRow


def attempt_header(fact: AttemptFact, attempt: Mapping[str, Any], tries: Sequence[TryRow]) -> None:
    """Outcome, why, and what it used."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(f"{label(fact.scenario)}, sample {fact.sample}", width="content", anchor=False)
        st.badge(label(fact.outcome or "unfinished"), color=outcome_badge(fact.outcome))
        if fact.outcome is not None and not fact.valid:
            st.badge("not valid: does not count", color="gray")
    if fact.reason:
        st.text(one_line(fact.reason, 500))
    st.caption(label(f"{full_name(fact.arm)} · attempt {fact.attempt_id[:12]}", 250))
    worker = tries[-1].worker if tries else None
    with st.container(horizontal=True, gap="medium"):
        _figure("Tool calls", count(fact.tool_calls))
        _figure("Wasted calls", count(fact.wasted_calls))
        _figure("Model turns", count(fact.model_turns))
        _figure("Duration", seconds(fact.duration_s))
        _figure("Tokens in / out", _tokens(attempt))
        _figure("Cost", dollars(fact.cost_usd))
        _figure("Tries", count(attempt["tries"]))
        _figure("Worker", one_line(worker, 24) if worker else NONE, width=200)


def _figure(title: str, value: str, width: int = 125) -> None:
    st.metric(title, value, width=width)


def _tokens(attempt: Mapping[str, Any]) -> str:
    known = attempt["input_tokens"], attempt["output_tokens"]
    return NONE if known == (None, None) else " / ".join(map(compact, known))


def checks_table(checks: Sequence[CheckRow]) -> None:
    """What was checked, and what came out."""
    st.markdown("**Checks**")
    if not checks:
        st.caption("No check was made.")
        return
    rows = [
        {
            "check": one_line(one.name),
            "result": _result(one),
            "kind": one_line(one.kind),
            "part": "stage" if one.stage else "required" if one.required else "for information",
            "verdict by": "imported: another tool" if one.imported else "Passgrid",
            "found": one_line(one.detail, 500),
        }
        for one in checks
    ]
    data_table(rows, "Checks of the attempt", left=["check", *rows[0]])
    if any(one.imported for one in checks):
        st.caption("Imported verdicts were made by another tool; Passgrid took them over as they are.")


def _result(check: CheckRow) -> str:
    if check.passed is None:
        return NONE if check.kind in ("label", "score") else "could not be made"
    return "✓ pass" if check.passed else "✗ fail"


def flag_list(flags: Sequence[FlagRow]) -> None:
    """What detectors found; nothing where none did."""
    if not flags:
        return
    st.markdown("**Flags**")
    for one in flags:
        st.warning(f"{label(one.name.replace('_', ' '))}: {label(one.detail, 600)}")
    st.caption("Found by detectors of failures that look like a success; never part of the pass.")


def tries_table(tries: Sequence[TryRow]) -> None:
    """Every execution: more than one only after a crash, none of an imported attempt."""
    if not tries:
        return
    title = "1 try" if len(tries) == 1 else f"{count(len(tries))} tries"
    with st.expander(f"{title}: where and when it ran"):
        rows = [
            {
                "try": one.fence,
                "worker": visible(one.worker),
                "started": moment(one.started_at),
                "ended": moment(one.ended_at),
                "ended because": one_line(one.reason) if one.reason else NONE,
            }
            for one in tries
        ]
        data_table(rows, "Tries of the attempt", left=["try", *rows[0]])
