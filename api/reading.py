"""Look runs up and read what they say: for the command line and the HTTP API alike."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from passgrid.problems import InvalidInput, Problem
from passgrid.report.arms import ArmReport, arm_reports
from passgrid.warehouse.facts import attempt_facts
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


def read_report(connection: sa.Connection, references: Sequence[str]) -> tuple[list[str], list[ArmReport]]:
    """The run ids and the arms of these runs. Raises `InvalidInput` for a run that is not there."""
    run_ids = find_runs(connection, references)
    return run_ids, arm_reports(attempt_facts(connection, run_ids))
