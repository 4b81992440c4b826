"""Submit, list and follow runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from api.http.auditing import note
from api.http.database import Connection, Engine, RunId
from api.http.roles import GuardedRoute, needs
from api.suites import plan_named
from passgrid.access import Role
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_of
from passgrid.warehouse.progress import RunProgress, list_runs, run_progress
from passgrid.warehouse.submission import reusable, submit
from passgrid.warehouse.summary import run_summary

router = APIRouter(prefix="/runs", tags=["runs"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which no name has")
    return text


Text = Annotated[str, Field(max_length=500), AfterValidator(_without_nul)]
Texts = Annotated[list[Text], Field(max_length=1000)]


class Submission(BaseModel):
    """A matrix to submit; suites are named, never given by path."""

    model_config = ConfigDict(extra="forbid")

    suites: list[Text] = Field(min_length=1, max_length=100)
    models: list[Text] = Field(min_length=1, max_length=100)
    k: int = Field(ge=1, le=100_000)
    mode: Text = "replay"
    scenarios: Texts = []
    prompts: Texts = []
    targets: Texts = []
    agents: Texts = []
    recordings: Text | None = None
    tags: Texts = []
    limit: int | None = Field(default=None, ge=1, le=1_000_000)
    label: Text = "default"
    priority: int = Field(default=0, ge=-1_000_000, le=1_000_000)
    max_tries: int = Field(default=3, ge=0, le=1000)
    budget: float | None = Field(default=None, gt=0, le=1e9, description="US dollars.")
    allow_unpriced: bool = False

    def to_request(self) -> Request:
        """As the command line would make it. Raises `InvalidInput` for a suite given by path."""
        problems = [
            Problem(f"suites: {name!r}", "is not the name of a suite", "GET /suites lists them")
            for name in self.suites
            if len(PurePosixPath(name).parts) != 1 or name.startswith(".") or "\0" in name
        ]
        if problems:
            raise InvalidInput(problems)
        return request_of(self.model_dump())


@router.post("", status_code=201, dependencies=[needs(Role.SUBMIT)])
def submit_run(submission: Submission, request: HttpRequest, engine: Engine, dry_run: bool = False) -> dict[str, Any]:
    """Check a matrix and write it. The same one again is the same run; a larger k adds what is missing."""
    plan = plan_named(engine, submission.to_request())
    note(request, run=plan.run_id, dry_run=dry_run)
    if dry_run:
        with engine.connect() as connection:
            there = reusable(connection, plan)
        return {"run": plan.run_id, "wanted": plan.wanted, "reused": there, "new_attempts": plan.wanted - there}
    submitted = submit(engine, plan)
    note(request, new_attempts=submitted.new_attempts)
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
        "stop_reason": progress.stop_reason,
        "budget_usd": progress.budget_usd,
        "spent_usd": progress.spent_usd,
        "wanted": progress.wanted,
        "done": progress.done,
        "arms": [asdict(arm) for arm in progress.arms],
        "reasons": [{"reason": reason, "count": count} for reason, count in progress.reasons],
    }
