"""Submit a matrix: check everything, write it in one transaction, say what came of it."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from passgrid.plan import Plan, Request, make_plan
from passgrid.warehouse.submission import Submitted, submit


def library_folder() -> Path:
    """The scenarios that come with Passgrid: suites given by name are looked up here."""
    import scenarios

    (folder,) = scenarios.__path__
    return Path(folder)


def plan_request(request: Request) -> Plan:
    """Check a request against the files it names; raises `InvalidInput` with every problem."""
    return make_plan(request, library_folder())


def submit_request(engine: sa.Engine, request: Request) -> Submitted:
    """Check and write a request. Raises `InvalidInput`; nothing is written then."""
    return submit(engine, plan_request(request))
