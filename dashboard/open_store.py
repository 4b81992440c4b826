"""The analysis store of now, and what is computed from it, kept until another version is published."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import streamlit as st

from passgrid.drift.report import DriftArm
from passgrid.report.arms import ArmReport, arm_reports
from passgrid.report.comparison import ArmComparison, compare_arms
from passgrid.report.facts import ArmName, AttemptFact
from passgrid.transcript import Message
from passgrid.warehouse.analysis.arms import ArmRow, arm_rows, scenario_tags
from passgrid.warehouse.analysis.drift import drift_of
from passgrid.warehouse.analysis.publishing import current_file
from passgrid.warehouse.analysis.store import AnalysisStore, NothingExported
from passgrid.warehouse.analysis.tools import ToolRow, flag_details, stage_order, tool_rows

_LOCK = threading.RLock()
_HELD: dict[Path, OpenStore] = {}


@dataclass(frozen=True, slots=True)
class OpenStore:
    """An open store; its identity changes with every published version."""

    identity: str
    store: AnalysisStore


def analysis_folder() -> Path:
    """Where the file lies. Raises `NothingExported` when nobody said it."""
    folder = os.environ.get("PASSGRID_ANALYSIS")
    if not folder:
        raise NothingExported("PASSGRID_ANALYSIS names no folder: start the screens with `passgrid dashboard`")
    return Path(folder)


def open_store() -> OpenStore:
    """The store of the version the pointer names now. Raises `NothingExported`, or `StoreError` when unreadable."""
    folder = analysis_folder()
    with _LOCK:
        held = _HELD.get(folder)
        identity = _identity(folder)
        if held is not None and held.identity == identity:
            return held
        if held is not None and held.store.file == current_file(folder):
            held.store.close()  # the folder was made anew: DuckDB would go on reading the old file of this name
        fresh = OpenStore(identity, AnalysisStore(folder))
        _HELD[folder] = fresh
        return fresh


def _identity(folder: Path) -> str:
    file = current_file(folder)
    if file is None:
        return ""
    found = file.stat()
    return f"{file}:{found.st_ino}:{found.st_mtime_ns}"


def arms(opened: OpenStore) -> list[ArmRow]:
    """Every arm there is, the newest run first."""
    return _arms(opened.identity, opened.store)


def tags(opened: OpenStore, run_ids: tuple[str, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Tags by suite and scenario."""
    return _tags(opened.identity, opened.store, run_ids)


def facts(opened: OpenStore, run_id: str) -> list[AttemptFact]:
    """Every attempt of a run."""
    return _facts(opened.identity, opened.store, run_id)


def report(opened: OpenStore, arm: ArmName, kept: frozenset[tuple[str, str]] | None, most_k: int) -> ArmReport | None:
    """What one arm says over the scenarios kept (None: all of them); None where it has none of them."""
    return _report(opened.identity, opened.store, arm, kept, most_k)


def comparisons(
    opened: OpenStore, baseline: ArmReport, others: Sequence[ArmReport], kept: frozenset[tuple[str, str]] | None
) -> list[ArmComparison]:
    """Each of the others against the baseline; all are reports over the scenarios kept."""
    names = (baseline.name, *(one.name for one in others))
    return _comparisons(opened.identity, names, kept, [(baseline, one) for one in others])


def tools(opened: OpenStore, arm: ArmName, kept: frozenset[tuple[str, str]] | None) -> list[ToolRow]:
    """How an arm used its tools over the scenarios kept (None: all of them)."""
    return _tools(opened.identity, opened.store, arm, kept)


def stages(opened: OpenStore, run_ids: tuple[str, ...]) -> list[str]:
    """The stages of these runs, in the order of their scenarios."""
    return _stages(opened.identity, opened.store, run_ids)


def flags(opened: OpenStore, run_id: str) -> dict[tuple[str, str], str]:
    """What detectors saw in a run, by attempt and detector."""
    return _flags(opened.identity, opened.store, run_id)


def drift(opened: OpenStore, run_id: str) -> list[DriftArm]:
    """What each arm of a run found by comparing live answers with recorded ones."""
    return _drift(opened.identity, opened.store, run_id)


def transcript(opened: OpenStore, run_id: str, attempt_key: int) -> list[Message]:
    """The messages of an attempt; one reader at a time, as the store's connection is shared by all sessions."""
    with _LOCK:
        return opened.store.transcript(run_id, attempt_key)


def exported_at(opened: OpenStore) -> datetime | None:
    """When this version was made."""
    with _LOCK:
        return opened.store.exported_at()


@st.cache_resource(max_entries=4, show_spinner=False)
def _arms(identity: str, _store: AnalysisStore) -> list[ArmRow]:
    return arm_rows(_store)


@st.cache_resource(max_entries=64, show_spinner="Comparing arms …")
def _comparisons(
    identity: str,
    names: tuple[ArmName, ...],
    kept: frozenset[tuple[str, str]] | None,
    _pairs: list[tuple[ArmReport, ArmReport]],
) -> list[ArmComparison]:
    return compare_arms(_pairs)


@st.cache_resource(max_entries=128, show_spinner=False)
def _tools(
    identity: str, _store: AnalysisStore, arm: ArmName, kept: frozenset[tuple[str, str]] | None
) -> list[ToolRow]:
    return tool_rows(_store, arm, kept)


@st.cache_resource(max_entries=32, show_spinner=False)
def _stages(identity: str, _store: AnalysisStore, run_ids: tuple[str, ...]) -> list[str]:
    return stage_order(_store, run_ids)


@st.cache_resource(max_entries=16, show_spinner=False)
def _flags(identity: str, _store: AnalysisStore, run_id: str) -> dict[tuple[str, str], str]:
    return flag_details(_store, run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _drift(identity: str, _store: AnalysisStore, run_id: str) -> list[DriftArm]:
    return drift_of(_store, [run_id])


@st.cache_resource(max_entries=32, show_spinner=False)
def _tags(identity: str, _store: AnalysisStore, run_ids: tuple[str, ...]) -> dict[tuple[str, str], tuple[str, ...]]:
    return scenario_tags(_store, run_ids)


@st.cache_resource(max_entries=16, show_spinner="Reading the attempts of the run …")
def _facts(identity: str, _store: AnalysisStore, run_id: str) -> list[AttemptFact]:
    return _store.facts([run_id])


@st.cache_resource(max_entries=128, show_spinner="Computing intervals …")
def _report(
    identity: str, _store: AnalysisStore, arm: ArmName, kept: frozenset[tuple[str, str]] | None, most_k: int
) -> ArmReport | None:
    of_arm = [
        fact
        for fact in _facts(identity, _store, arm.run)
        if fact.arm == arm and (kept is None or (fact.suite, fact.scenario) in kept)
    ]
    return arm_reports(of_arm, most_k=most_k)[0] if of_arm else None
