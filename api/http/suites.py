"""See and upload suites."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from api.http.auditing import note
from api.http.database import Connection, Engine
from api.http.roles import CallerOf, GuardedRoute, needs
from api.suites import describe_suite, list_suites, upload
from passgrid.access import Role
from passgrid.parts import NAME_PATTERN
from passgrid.problems import InvalidInput, Problem

router = APIRouter(prefix="/suites", tags=["suites"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])

SuiteName = Annotated[str, Path(pattern=NAME_PATTERN, max_length=100)]


class Binary(BaseModel):
    """A file that is not UTF-8 text."""

    model_config = ConfigDict(extra="forbid")

    base64: str


class SuiteFiles(BaseModel):
    """A whole suite: what lies in its folder, recordings included."""

    model_config = ConfigDict(extra="forbid")

    files: dict[str, str | Binary] = Field(
        min_length=1, description="Content by path below the suite, such as servers/stock.py: text, or base64."
    )

    def to_bytes(self) -> dict[str, bytes]:
        """The files as they are stored. Raises `InvalidInput` naming each that cannot be read."""
        found: dict[str, bytes] = {}
        problems: list[Problem] = []
        for path, content in self.files.items():
            try:
                found[path] = content.encode() if isinstance(content, str) else _decoded(content)
            except ValueError as error:
                problems.append(Problem(f"files: {path!r}", f"cannot be read: {error}"))
        if problems:
            raise InvalidInput(problems)
        return found


@router.get("")
def all_suites(connection: Connection) -> list[dict[str, Any]]:
    """The suites that can be submitted by name: the server's own, and those that were uploaded."""
    return list_suites(connection)


@router.get("/{name}")
def one_suite(name: SuiteName, connection: Connection) -> dict[str, Any]:
    """One suite; with the hash of every file if it was uploaded."""
    return describe_suite(connection, name)


@router.put("/{name}", dependencies=[needs(Role.AUTHOR)])
def upload_suite(
    name: SuiteName, suite: SuiteFiles, request: Request, engine: Engine, caller: CallerOf
) -> dict[str, Any]:
    """Check a suite with all its recordings and store it, in place of the one of this name. Runs keep what they had."""
    files = suite.to_bytes()
    with engine.begin() as connection:
        stored, changed = upload(connection, name, files, caller.name)
        note(request, version=stored.version, files=len(files), changed=changed)
        return {**describe_suite(connection, name), "changed": changed}


def _decoded(content: Binary) -> bytes:
    try:
        return base64.b64decode(content.base64, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None
