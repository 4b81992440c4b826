"""Submit a matrix: check everything, write it in one transaction, say what came of it."""

from __future__ import annotations

import os
from dataclasses import replace
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


def plan_request(request: Request, *, named_only: bool = False) -> Plan:
    """Check a request against the files it names; raises `InvalidInput` with every problem.

    named_only: suites are names of the library, whatever lies in the current folder.
    """
    library = library_folder()
    if named_only:
        request = replace(request, suites=tuple(str(library / suite) for suite in request.suites))
    return make_plan(request, library)
