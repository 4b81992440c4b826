"""Whether the API is there, and whether it can work."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from sqlalchemy.exc import OperationalError, ProgrammingError

from api.http.database import Engine
from passgrid.warehouse.stuck import standing_still

router = APIRouter(tags=["health"])


@router.get("/health")
def health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/ready")
def ready(engine: Engine, response: Response) -> dict[str, Any]:
    """The database answers too, and what waits is taken up; 503 where not, with what stands still, and why.

    A worker or scheduler that is up but consumes nothing shows here: what it should have taken still waits.
    """
    try:
        stuck = standing_still(engine)
    except OperationalError as error:
        response.status_code = 503
        return {"status": "database away", "detail": str(error.orig).splitlines()[0] if error.orig else ""}
    except ProgrammingError:
        response.status_code = 503
        return {"status": "another schema", "detail": "the database does not have the schema of this version"}
    if stuck:
        response.status_code = 503
        return {"status": "stuck", "why": [f"{one.subject}: {one.why}" for one in stuck]}
    return {"status": "ok"}
