"""What runs say."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.http.database import Connection
from api.http.roles import GuardedRoute, needs
from api.reading import read_report
from passgrid.access import Role
from passgrid.report.document import report_document

router = APIRouter(tags=["reports"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])


@router.get("/report")
def report(run: Annotated[list[str], Query(min_length=1, max_length=50)], connection: Connection) -> dict[str, Any]:
    """The arms of one or several runs, as `passgrid report --json` prints them."""
    found, arms = read_report(connection, run)
    return report_document(found, arms)
