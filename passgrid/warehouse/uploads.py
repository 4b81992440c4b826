"""Suites that were uploaded: their files as blobs, and a manifest that names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.identity import content_hash, value_hash
from passgrid.warehouse import blobs


@dataclass(frozen=True, slots=True)
class UploadedSuite:
    """A suite that is in the database."""

    name: str
    version: str
    """Hash of the manifest."""
    manifest: Mapping[str, str]
    """The blob of each file by path."""
    uploaded_by: str
    uploaded_at: datetime


_COLUMNS = "name, version, manifest, uploaded_by, uploaded_at"


def store_suite(
    connection: sa.Connection, name: str, files: Mapping[str, bytes], uploaded_by: str
) -> tuple[UploadedSuite, bool]:
    """Store a checked suite in the caller's transaction, in place of the one before; tells whether anything changed."""
    bodies = {content_hash(data): data for data in files.values()}
    manifest = {path: content_hash(data) for path, data in sorted(files.items())}
    blobs.store(connection, bodies)
    changed = connection.execute(
        sa.text(
            "INSERT INTO suites (name, version, manifest, uploaded_by) "
            "VALUES (:name, :version, cast(:manifest AS jsonb), :by) ON CONFLICT (name) DO UPDATE SET "
            "version = excluded.version, manifest = excluded.manifest, uploaded_by = excluded.uploaded_by, "
            "uploaded_at = now() WHERE suites.version <> excluded.version"
        ),
        {
            "name": name,
            "version": value_hash(manifest),
            "manifest": orjson.dumps(manifest).decode(),
            "by": uploaded_by,
        },
    ).rowcount
    stored = uploaded_suite(connection, name)
    assert stored is not None, "it was written above"
    return stored, bool(changed)


def uploaded_suite(connection: sa.Connection, name: str) -> UploadedSuite | None:
    """The suite of this name; None where none was uploaded."""
    row = connection.execute(
        sa.text(f"SELECT {_COLUMNS} FROM suites WHERE name = :name"),  # noqa: S608
        {"name": name},
    ).one_or_none()
    return _suite(row) if row is not None else None


def uploaded_suites(connection: sa.Connection) -> list[UploadedSuite]:
    """Every uploaded suite, by name."""
    return [_suite(row) for row in connection.execute(sa.text(f"SELECT {_COLUMNS} FROM suites ORDER BY name"))]  # noqa: S608


def suite_files(connection: sa.Connection, suite: UploadedSuite) -> dict[str, bytes]:
    """The files of an uploaded suite by path. Raises `LookupError` where one is lost."""
    bodies = blobs.load(connection, suite.manifest.values())
    lost = [path for path, digest in suite.manifest.items() if digest not in bodies]
    if lost:
        raise LookupError(f"the uploaded suite {suite.name} has lost {lost[0]}; upload it again")
    return {path: bodies[digest] for path, digest in suite.manifest.items()}


def _suite(row: Any) -> UploadedSuite:
    return UploadedSuite(row.name, row.version, row.manifest, row.uploaded_by, row.uploaded_at)
