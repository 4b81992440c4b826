"""Cancel, pause, resume, retry and tune runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from pydantic import BaseModel, ConfigDict, Field

from api.http.auditing import note
from api.http.database import Engine, RunId
from api.http.roles import GuardedRoute, needs
from passgrid.access import Role
from passgrid.warehouse import control

router = APIRouter(prefix="/runs/{run}", tags=["control"], route_class=GuardedRoute, dependencies=[needs(Role.SUBMIT)])


class Tuning(BaseModel):
    """What is to change of a run; what is absent stays."""

    model_config = ConfigDict(extra="forbid")

    priority: int | None = Field(default=None, ge=-1_000_000, le=1_000_000)
    max_tries: int | None = Field(default=None, ge=1, le=1000)
    budget: float | None = Field(default=None, gt=0, le=1e9, description="US dollars in all, what is spent included.")

    def values(self) -> control.Tuning:
        """As the warehouse takes it."""
        return control.Tuning(self.priority, self.max_tries, self.budget)


@router.post("/cancel")
def cancel_run(run_id: RunId, request: HttpRequest, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Take what waits out of the queue; what runs ends before its next model or tool call."""
    return _done(request, run_id, dry_run, lambda: control.cancel(engine, run_id, dry_run=dry_run))


@router.post("/pause")
def pause_run(run_id: RunId, request: HttpRequest, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Hold what waits; what runs goes on to its end."""
    return _done(request, run_id, dry_run, lambda: control.pause(engine, run_id, dry_run=dry_run))


@router.post("/resume")
def resume_run(
    run_id: RunId, request: HttpRequest, engine: Engine, tuning: Tuning | None = None, dry_run: bool = False
) -> dict[str, Any]:
    """Queue what was held or cancelled, or ended in an infrastructure error; with a body, changed by it."""
    values = (tuning or Tuning()).values()
    return _done(request, run_id, dry_run, lambda: control.resume(engine, run_id, values, dry_run=dry_run))


@router.post("/retry")
def retry_run(run_id: RunId, request: HttpRequest, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Queue again only what ended in an infrastructure error."""
    return _done(request, run_id, dry_run, lambda: control.retry(engine, run_id, dry_run=dry_run))


@router.post("/tune")
def tune_run(
    run_id: RunId, request: HttpRequest, engine: Engine, tuning: Tuning, dry_run: bool = False
) -> dict[str, Any]:
    """Change the priority, the tries or the budget of a run while it runs."""
    return _done(request, run_id, dry_run, lambda: control.tune(engine, run_id, tuning.values(), dry_run=dry_run))


def _done(request: HttpRequest, run_id: str, dry_run: bool, act: Callable[[], control.Controlled]) -> dict[str, Any]:
    done = asdict(act())
    note(request, run=run_id, dry_run=dry_run, attempts=done["attempts"])
    return done
