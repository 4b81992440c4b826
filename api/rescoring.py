"""Judge a finished run again, after its checks changed: no model and no tool is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from passgrid.attempt import judged, verdict_of
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Cassette, cassette_of
from passgrid.library import Suite
from passgrid.matrix import Cell, Mode
from passgrid.packing import Packing
from passgrid.plan import current_cells
from passgrid.problems import InvalidInput, Problem
from passgrid.request import request_of
from passgrid.sealing import sealed
from passgrid.suite_code import SuiteCode
from passgrid.warehouse import blobs
from passgrid.warehouse.evidence import stored_result
from passgrid.warehouse.rescoring import (
    Rescored,
    StoredAttempt,
    hold_run,
    run_cells,
    stored_attempts,
    write_cells,
    write_verdicts,
)
from passgrid.workspaces.attempt_workspace import template_files


@dataclass(frozen=True, slots=True)
class Turned:
    """An attempt whose verdict is another one now."""

    scenario: str
    sample: int
    attempt: int
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What judging again came to."""

    run: str
    attempts: int
    passed_before: int
    passed: int
    turned: tuple[Turned, ...]

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "run": self.run,
            "attempts": self.attempts,
            "passed_before": self.passed_before,
            "passed": self.passed,
            "turned": [
                {name: getattr(one, name) for name in ("scenario", "sample", "before", "after", "reason")}
                for one in self.turned
            ],
        }


def rescore(
    engine: sa.Engine, run_id: str, library: Path | None, suites: Sequence[str] = (), *, dry_run: bool = False
) -> Rescoring:
    """Judge every valid attempt of a run by its suites as they are now, in one transaction.

    Args:
        engine: of Postgres.
        run_id: whole.
        library: where suites are looked up by name.
        suites: folders to take instead of those the run was submitted with.
        dry_run: write nothing.

    Raises:
        InvalidInput: more than checks changed, or a suite cannot be read.
    """
    with engine.begin() as connection:
        mode, cells, found = _cells(connection, run_id, library, suites)
        packing = Packing()
        packing.take_orders(list(cells.values()), found, mode)
        turned, count, before, after = _judge_all(connection, run_id, mode, cells, found, write=not dry_run)
        if not dry_run:
            blobs.store(connection, packing.blobs)
            write_cells(
                connection,
                run_id,
                {name: (cell.scenario.verdict_hash(), packing.orders[name]) for name, cell in cells.items()},
            )
    return Rescoring(run_id, count, before, after, tuple(turned))


def _cells(
    connection: sa.Connection, run_id: str, library: Path | None, suites: Sequence[str]
) -> tuple[Mode, dict[str, Cell], dict[str, Suite]]:
    held = hold_run(connection, run_id)
    if held.imported_from is not None:
        message = f"was imported from {held.imported_from}: what its verdicts rest on is not here"
        raise InvalidInput([Problem(f"run {run_id[:12]}", message, "judge it where it was measured")])
    if held.under_way:
        message = f"{held.under_way} attempts of it are under way, and are judged by the checks they begin with"
        raise InvalidInput([Problem(f"run {run_id[:12]}", message, f"wait, or passgrid pause {run_id[:12]}")])
    request = request_of(held.spec)
    if suites:
        request = replace(request, suites=tuple(suites))
    now, found = current_cells(request, library)
    cells = {cell.cell_id: cell for cell in now}
    gone = {place for name, place in run_cells(connection, run_id).items() if name not in cells}
    if gone:
        message = "is no longer the scenario that was run: more than its checks, stages and tags changed"
        remedy = "measure it again: submit-matrix with another --label"
        raise InvalidInput(Problem(f"{suite}/{scenario}", message, remedy) for suite, scenario in sorted(gone))
    return Mode(request.mode), cells, found


def _judge_all(
    connection: sa.Connection,
    run_id: str,
    mode: Mode,
    cells: Mapping[str, Cell],
    suites: Mapping[str, Suite],
    *,
    write: bool,
) -> tuple[list[Turned], int, int, int]:
    codes = {name: SuiteCode(suite.files) for name, suite in suites.items()}
    turned: list[Turned] = []
    count = before = after = 0
    for batch in stored_attempts(connection, run_id):
        rescored: list[Rescored] = []
        for one in batch:
            cell = cells[one.cell_id]
            rescored.append(_judged(one, mode, cell, suites[cell.suite], codes[cell.suite]))
        for one, new in zip(batch, rescored, strict=True):
            passed = new.result.outcome.passed
            count, before, after = count + 1, before + one.passed, after + passed
            if passed != one.passed:
                now = new.result.outcome
                turned.append(Turned(one.scenario, one.sample, one.key, one.verdict, now.name, now.reason))
        if write:
            write_verdicts(connection, rescored)
    return turned, count, before, after


def _judged(one: StoredAttempt, mode: Mode, cell: Cell, suite: Suite, code: SuiteCode) -> Rescored:
    template = template_files(cell.scenario.workspace, suite.files)
    result = stored_result(one.outcome, one.messages, one.journal, one.evidence, template, one.duration_s)
    order = AttemptOrder(
        attempt_id="",
        scenario=cell.scenario,
        prompt=cell.arm.prompt,
        model=cell.arm.model,
        mode=mode,
        sample=one.sample,
        cassette=_cassette(one.cassette),
        suite_files=suite.files,
    )
    with sealed():
        checks, flags = judged(order, result, code)
    ended = replace(result, outcome=verdict_of(one.outcome, checks), checks=checks, flags=flags)
    return Rescored(one.key, ended, ended.digest())


def _cassette(document: Mapping[str, Any]) -> Cassette | None:
    """The recording, for the verdicts of other tools in it; its payloads are not needed."""
    return cassette_of(document) if "steps" in document else None
