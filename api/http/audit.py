"""What was asked to change something, and what came of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.http.database import Connection
from api.http.roles import GuardedRoute, needs
from passgrid.access import Role
from passgrid.warehouse.audit import read_audit

router = APIRouter(tags=["audit"], route_class=GuardedRoute, dependencies=[needs(Role.ADMIN)])


@router.get("/audit")
def audit(
    connection: Connection,
    before: Annotated[int | None, Query(ge=1, lt=2**63, description="Only entries older than this id.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[dict[str, Any]]:
    """The newest entries first: go on with `before` set to the last id."""
    return [asdict(entry) for entry in read_audit(connection, before=before, limit=limit)]
