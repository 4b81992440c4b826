"""What runs say."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.http.database import Connection
from api.http.roles import GuardedRoute, needs
from api.reading import read_report
from passgrid.access import Role
from passgrid.report.document import report_document
from passgrid.report.gates import read_gates

router = APIRouter(tags=["reports"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])


@router.get("/report")
def report(
    run: Annotated[list[str], Query(min_length=1, max_length=50)],
    connection: Connection,
    baseline: Annotated[str | None, Query(max_length=300)] = None,
    gate: Annotated[list[str] | None, Query(max_length=20)] = None,
) -> dict[str, Any]:
    """The arms of one or several runs and their comparisons, as `passgrid report --json` prints them."""
    return report_document(read_report(connection, run, baseline, read_gates(gate or [])))
