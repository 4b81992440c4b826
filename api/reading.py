"""Look runs up and read what they say: for the command line and the HTTP API alike."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from passgrid.problems import InvalidInput, Problem
from passgrid.report.arms import arm_reports
from passgrid.report.gates import Gate
from passgrid.report.report import Report, baseline_axis, make_report, of_run
from passgrid.report.tool_use import ToolUses
from passgrid.warehouse.facts import attempt_facts, tool_uses
from passgrid.warehouse.progress import find_run, finished_run_ids


def find_runs(connection: sa.Connection, references: Sequence[str]) -> list[str]:
    """The ids of runs given by the start of an id or a label. Raises `InvalidInput` naming each that is not there."""
    found: list[str] = []
    problems: list[Problem] = []
    for reference in references:
        try:
            found.append(find_run(connection, reference))
        except LookupError as error:
            problems.append(Problem(f"RUN {reference}", str(error)))
    if problems:
        raise InvalidInput(problems)
    return list(dict.fromkeys(found))


def finished_runs(connection: sa.Connection) -> list[str]:
    """The ids of all runs of which nothing is left to do, the oldest first. Raises `InvalidInput` without any."""
    found = finished_run_ids(connection)
    if not found:
        raise InvalidInput([Problem("RUN", "no run is finished yet", "see `passgrid status`")])
    return found


def read_report(
    connection: sa.Connection,
    references: Sequence[str],
    baseline: str | None = None,
    gates: Sequence[Gate] = (),
    *,
    most_k: int | None = None,
) -> Report:
    """What these runs say, compared with a baseline: a run, or `AXIS=VALUE` for arms of these runs.

    most_k: no point of a curve beyond it.

    Raises:
        InvalidInput: a run is not there, or there is nothing to compare.
    """
    is_baseline = None if baseline is None else baseline_axis(baseline)
    if baseline is None or is_baseline is not None:
        run_ids = find_runs(connection, references)
    else:
        run_ids = find_runs(connection, [baseline, *references])
        is_baseline = of_run(run_ids[0])
    return make_report(run_ids, arm_reports(attempt_facts(connection, run_ids), most_k=most_k), is_baseline, gates)


def read_tool_use(connection: sa.Connection, report: Report) -> ToolUses:
    """How often each arm of a report called each tool."""
    return tool_uses(connection, report.runs)
