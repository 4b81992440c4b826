"""Suites by name, as the HTTP API knows them: those of the server's library, and those that were uploaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from api.submission import library_folder
from passgrid.library import SUITE_FILE
from passgrid.plan import Plan, make_plan
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_problems
from passgrid.suite_upload import RESERVED, check_upload, folder_of_suites, without_folder
from passgrid.warehouse.uploads import UploadedSuite, store_suite, suite_files, uploaded_suite, uploaded_suites


def plan_named(engine: sa.Engine, request: Request) -> Plan:
    """Check a request whose suites are names, never paths, whatever lies in the current folder.

    Raises `InvalidInput` with every problem.
    """
    library = library_folder()
    own = [name for name in request.suites if _in_library(library, name)]
    with engine.connect() as connection:
        found = [uploaded_suite(connection, name) for name in request.suites if name not in own]
        uploaded = {suite.name: suite_files(connection, suite) for suite in found if suite is not None}
    problems = _unknown(engine, library, [name for name in request.suites if name not in {*own, *uploaded}])
    with folder_of_suites(uploaded, library) as root:
        folders = {name: library / name for name in own} | {name: root / name for name in uploaded}
        there = tuple(str(folders[name]) for name in request.suites if name in folders)
        try:
            if not there:
                raise InvalidInput(request_problems(request))
            plan = make_plan(replace(request, suites=there), library)
        except InvalidInput as error:
            problems += without_folder(error.problems, root, library)
            raise InvalidInput(problems) from None
    if problems:
        raise InvalidInput(problems)
    return replace(plan, request=request)


def upload(connection: sa.Connection, name: str, files: Mapping[str, bytes], by: str) -> tuple[UploadedSuite, bool]:
    """Check and store a suite in the caller's transaction; tells whether anything changed.

    Raises `InvalidInput` with every problem, and nothing is stored.
    """
    check_upload(name, files, library_folder())
    return store_suite(connection, name, files, by)


def list_suites(connection: sa.Connection) -> list[dict[str, Any]]:
    """Every suite that can be submitted by name."""
    library = library_folder()
    own = [_library_document(library / name) for name in _library_names(library)]
    return own + [_uploaded_document(suite) for suite in uploaded_suites(connection)]


def describe_suite(connection: sa.Connection, name: str) -> dict[str, Any]:
    """One suite, with the hash of every file if it was uploaded. Raises `LookupError`."""
    library = library_folder()
    if _in_library(library, name):
        return _library_document(library / name)
    suite = uploaded_suite(connection, name)
    if suite is None:
        raise LookupError(f"no suite is called {name}")
    return {**_uploaded_document(suite), "files": dict(suite.manifest)}


def _unknown(engine: sa.Engine, library: Path, names: Sequence[str]) -> list[Problem]:
    if not names:
        return []
    with engine.connect() as connection:
        known = sorted({*_library_names(library), *(suite.name for suite in uploaded_suites(connection))})
    there = f"there are: {', '.join(known)}" if known else "there is none yet; an author can upload one"
    return [Problem(f"suites: {name!r}", "no such suite", there) for name in names]


def _in_library(library: Path, name: str) -> bool:
    return name not in RESERVED and (library / name).is_dir()


def _library_names(library: Path) -> list[str]:
    return sorted(path.parent.name for path in library.glob(f"*/{SUITE_FILE}"))


def _library_document(folder: Path) -> dict[str, Any]:
    names = sorted(path.stem for path in folder.glob("*.yaml") if path.name != SUITE_FILE)
    return {"name": folder.name, "source": "library", "scenario_files": names}


def _uploaded_document(suite: UploadedSuite) -> dict[str, Any]:
    paths = sorted(path for path in suite.manifest if "/" not in path and path.endswith(".yaml") and path != SUITE_FILE)
    return {
        "name": suite.name,
        "source": "uploaded",
        "scenario_files": [path.removesuffix(".yaml") for path in paths],
        "version": suite.version,
        "uploaded_by": suite.uploaded_by,
        "uploaded_at": suite.uploaded_at,
    }
