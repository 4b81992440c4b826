"""Submit a matrix: check everything, write it in one transaction, say what came of it."""

from __future__ import annotations

import os
from pathlib import Path

from passgrid.plan import Plan, make_plan
from passgrid.request import Request


def library_folder() -> Path:
    """Where suites given by name are looked up: PASSGRID_LIBRARY, else the scenarios that come with Passgrid."""
    given = os.environ.get("PASSGRID_LIBRARY")
    if given:
        return Path(given)
    import scenarios

    (folder,) = scenarios.__path__
    return Path(folder)


def plan_request(request: Request) -> Plan:
    """Check a request against the files it names; raises `InvalidInput` with every problem."""
    return make_plan(request, library_folder())
