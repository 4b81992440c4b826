"""Whether the API is there, and whether it can work."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Response
from sqlalchemy.exc import OperationalError

from api.http.database import Engine

router = APIRouter(tags=["health"])


@router.get("/health")
def health() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/ready")
def ready(engine: Engine, response: Response) -> dict[str, Any]:
    """The database answers too; 503 where it does not."""
    try:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    except OperationalError as error:
        response.status_code = 503
        return {"status": "database away", "detail": str(error.orig).splitlines()[0] if error.orig else ""}
    return {"status": "ok"}
