"""Single attempts and their transcripts."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from api.http.database import Connection, RunId
from api.http.roles import GuardedRoute, needs
from passgrid.access import Role
from passgrid.warehouse.reading import attempt_details, list_attempts, transcript

router = APIRouter(
    prefix="/runs/{run}/attempts", tags=["attempts"], route_class=GuardedRoute, dependencies=[needs(Role.READ)]
)


@router.get("")
def attempts(
    run_id: RunId, connection: Connection, outcome: str | None = None, after: str = "", limit: int = 100
) -> list[dict[str, Any]]:
    """Attempts of a run in id order, `limit` at a time: go on with `after` set to the last id."""
    return list_attempts(connection, run_id, outcome=outcome, after=after, limit=max(1, min(limit, 1000)))


@router.get("/{attempt}")
def one_attempt(run_id: RunId, attempt: str, connection: Connection) -> dict[str, Any]:
    """One attempt with its journal, model turns, checks and tries."""
    return attempt_details(connection, run_id, attempt)


@router.get("/{attempt}/transcript")
def attempt_transcript(run_id: RunId, attempt: str, connection: Connection) -> list[dict[str, Any]]:
    """Its messages."""
    return transcript(connection, run_id, attempt)
