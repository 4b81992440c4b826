"""Submit, list, follow, cancel and resume runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.http.database import Connection, Engine, RunId
from api.submission import plan_request
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_of
from passgrid.warehouse import control
from passgrid.warehouse.progress import RunProgress, list_runs, run_progress
from passgrid.warehouse.submission import reusable, submit
from passgrid.warehouse.summary import run_summary

router = APIRouter(prefix="/runs", tags=["runs"])


class Submission(BaseModel):
    """A matrix to submit; suites are named, never given by path."""

    model_config = ConfigDict(extra="forbid")

    suites: list[str] = Field(min_length=1, max_length=100)
    models: list[str] = Field(min_length=1, max_length=100)
    k: int = Field(ge=1, le=100_000)
    mode: str = "replay"
    scenarios: list[str] = []
    prompts: list[str] = []
    tags: list[str] = []
    limit: int | None = None
    label: str = "default"
    priority: int = Field(default=0, ge=-1_000_000, le=1_000_000)

    def to_request(self) -> Request:
        """As the command line would make it. Raises `InvalidInput` for a suite given by path."""
        problems = [
            Problem(f"suites: {name!r}", "is not the name of a suite", "name a suite of the server's library")
            for name in self.suites
            if len(PurePosixPath(name).parts) != 1 or name.startswith(".") or "\0" in name
        ]
        if problems:
            raise InvalidInput(problems)
        return request_of(self.model_dump())


@router.post("", status_code=201)
def submit_run(submission: Submission, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Check a matrix and write it. The same one again is the same run; a larger k adds what is missing."""
    plan = plan_request(submission.to_request(), named_only=True)
    if dry_run:
        with engine.connect() as connection:
            there = reusable(connection, plan)
        return {"run": plan.run_id, "wanted": plan.wanted, "reused": there, "new_attempts": plan.wanted - there}
    submitted = submit(engine, plan)
    with engine.connect() as connection:
        return run_summary(connection, submitted.run_id).to_json(new_attempts=submitted.new_attempts)


@router.get("")
def all_runs(connection: Connection, limit: int = 100) -> list[dict[str, Any]]:
    """The newest runs with how far they are."""
    return list_runs(connection, max(1, min(limit, 1000)))


@router.get("/{run}")
def one_run(run_id: RunId, connection: Connection) -> dict[str, Any]:
    """How far a run is, by arm and outcome, and why attempts did not pass so far."""
    return progress_document(run_progress(connection, run_id))


def progress_document(progress: RunProgress) -> dict[str, Any]:
    """Progress as JSON."""
    return {
        "run": progress.run_id,
        "label": progress.label,
        "mode": progress.mode,
        "state": progress.state,
        "wanted": progress.wanted,
        "done": progress.done,
        "arms": [asdict(arm) for arm in progress.arms],
        "reasons": [{"reason": reason, "count": count} for reason, count in progress.reasons],
    }


@router.post("/{run}/cancel")
def cancel_run(run_id: RunId, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Take what is queued out of the queue."""
    return asdict(control.cancel(engine, run_id, dry_run=dry_run))


@router.post("/{run}/resume")
def resume_run(run_id: RunId, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Queue again what was cancelled or ended in an infrastructure error."""
    return asdict(control.resume(engine, run_id, dry_run=dry_run))
