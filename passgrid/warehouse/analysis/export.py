"""Fill the analysis file from Postgres: over ADBC, only what changed, published in one step.

What changed is found by transaction ids (design 3.6): every write sets `xid`; an export reads from the last watermark
up to the oldest transaction that is still open, so that a slow writer delays rows and loses none. The watermark belongs
to one cluster, one history of it and one table of runs: after a restore of any kind everything is read anew.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import adbc_driver_postgresql.dbapi
import duckdb
import pyarrow.parquet

from passgrid.problems import Unreachable
from passgrid.warehouse.analysis.publishing import TRANSCRIPTS, copy_of, current_file, draft_file, one_exporter, publish
from passgrid.warehouse.analysis.surfaces import add_surfaces
from passgrid.warehouse.analysis.tables import (
    ANYTHING_CHANGED_SQL,
    ATTEMPTS,
    OFFERED_TOOLS,
    RUNS,
    TABLES,
    TRANSCRIPTS_SQL,
    VERSION,
    Table,
)

# Neither library has types for these.
_connect = cast(Any, adbc_driver_postgresql.dbapi).connect
_write_table = cast(Any, pyarrow.parquet).write_table


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export did."""

    file: Path
    runs: int
    attempts: int
    rebuilt: bool
    """Read in full: the first export, another cluster, or a new version of the tables."""


@dataclass(frozen=True, slots=True)
class _Range:
    cluster: str
    since: int
    until: int

    @property
    def parameters(self) -> tuple[str, str]:
        return str(self.since), str(self.until)


def export(postgres_url: str, folder: Path) -> Exported:
    """Bring the analysis file up to date and publish it; readers of the old one are not disturbed.

    Raises `Unreachable` when the folder or disk cannot take it: the file of before stays as it was.
    """
    try:
        with one_exporter(folder), _connect(postgres_url) as source:
            return _export(source, folder)
    except (OSError, duckdb.IOException, duckdb.FatalException) as error:
        for leftover in folder.glob("draft-*"):
            leftover.unlink(missing_ok=True)
        full = getattr(error, "errno", None) in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} or "space" in str(error)
        remedy = "free some space and export again" if full else "check its owner and permissions"
        raise Unreachable(
            f"{folder}: the export could not be written: {error}; the file of before is whole; {remedy}"
        ) from error


def _export(source: Any, folder: Path) -> Exported:
    before = current_file(folder)
    changes = _changes(source, before)
    if before is not None and changes.since and not _anything_changed(source, changes):
        return Exported(before, 0, 0, rebuilt=False)
    draft = draft_file(folder)
    if before is not None and changes.since:
        copy_of(before, draft)
    with duckdb.connect(str(draft)) as target:
        if not changes.since:
            _make_tables(target)
        counts = {table.name: _move(source, target, table, changes) for table in TABLES}
        add_surfaces(source, target, changes.parameters)
        if changes.since:
            _bury(source, target, folder, changes)
        parts = _write_transcripts(source, folder, changes)
        target.execute("DELETE FROM exports")
        target.execute(
            "INSERT INTO exports VALUES (?, ?, ?, now(), ?)", [VERSION, changes.cluster, changes.until, parts]
        )
        target.execute("CHECKPOINT")
    return Exported(publish(folder, draft), counts[RUNS.name], counts[ATTEMPTS.name], rebuilt=not changes.since)


def _anything_changed(source: Any, changes: _Range) -> bool:
    """Whether there is a row to move or to delete: looking costs a millisecond, a new version of the file more."""
    with source.cursor() as cursor:
        cursor.execute(ANYTHING_CHANGED_SQL, changes.parameters)
        (changed,) = cursor.fetchone()
    return bool(changed)


def _changes(source: Any, before: Path | None) -> _Range:
    with source.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(_WHERE_AND_WHEN)
        cluster, until = cursor.fetchone()
    return _Range(cluster, _watermark(before, cluster, until), until)


# A dump that is restored makes a new table, with a number of its own; a server that goes back in time, or takes over
# from another, has a new timeline.
_WHERE_AND_WHEN = """
SELECT concat_ws('/', system_identifier, timeline_id, cast(cast('runs' AS regclass) AS oid)),
    cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)
FROM pg_control_system(), pg_control_checkpoint()
"""


def _watermark(before: Path | None, cluster: str, until: int) -> int:
    """Where the last export ended; 0 when everything has to be read, as where that is beyond what there is now."""
    if before is None:
        return 0
    try:
        with duckdb.connect(str(before), read_only=True) as file:
            row = file.execute("SELECT version, cluster, watermark FROM exports").fetchone()
    except duckdb.Error:
        return 0
    return row[2] if row is not None and row[:2] == (VERSION, cluster) and row[2] <= until else 0


def _make_tables(target: duckdb.DuckDBPyConnection) -> None:
    for table in (*TABLES, OFFERED_TOOLS):
        for statement in table.ddl():
            target.execute(statement)
    target.execute(
        "CREATE TABLE exports "
        "(version INTEGER, cluster VARCHAR, watermark BIGINT, exported_at TIMESTAMPTZ, parts BIGINT)"
    )


def _move(source: Any, target: duckdb.DuckDBPyConnection, table: Table, changes: _Range) -> int:
    """Replace the changed rows of one table; returns how many came."""
    with source.cursor() as cursor:
        cursor.execute(table.export_sql(), changes.parameters)
        incoming = cursor.fetch_arrow_table()
    if incoming.num_rows == 0:
        return 0
    target.register("incoming", incoming)
    if changes.since:
        key = table.key
        target.execute(f"DELETE FROM {table.name} WHERE {key} IN (SELECT {key} FROM incoming)")  # noqa: S608
    columns = ", ".join(column.name for column in table.columns)
    target.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM incoming")  # noqa: S608
    target.unregister("incoming")
    return incoming.num_rows


def _bury(source: Any, target: duckdb.DuckDBPyConnection, folder: Path, changes: _Range) -> None:
    """Delete what was deleted in Postgres."""
    for run_id in _column(source, _BURIED_SQL, *changes.parameters):
        # A run that was submitted again has other attempts; one that is being pruned has some of them left.
        there = _column(source, "SELECT key FROM attempts WHERE run_id = $1", run_id)
        target.execute(
            "CREATE OR REPLACE TEMP TABLE gone AS SELECT attempt_key FROM attempts "
            "WHERE run_id = ? AND attempt_key NOT IN (SELECT unnest(cast(? AS BIGINT[])))",
            [run_id, there],
        )
        for table in TABLES:
            if table.key == ATTEMPTS.key:
                target.execute(
                    f"DELETE FROM {table.name} WHERE attempt_key IN (SELECT attempt_key FROM gone)"  # noqa: S608
                )
        if not _column(source, "SELECT run_id FROM runs WHERE run_id = $1", run_id):
            target.execute("DELETE FROM runs WHERE run_id = ?", [run_id])
            shutil.rmtree(folder / TRANSCRIPTS / run_id, ignore_errors=True)
    target.execute("DROP TABLE IF EXISTS gone")


_BURIED_SQL = (
    "SELECT run_id FROM tombstones WHERE xid >= cast(cast($1 AS text) AS xid8) AND xid < cast(cast($2 AS text) AS xid8)"
)


def _column(source: Any, query: str, *parameters: str) -> list[Any]:
    with source.cursor() as cursor:
        cursor.execute(query, parameters)
        return [row[0] for row in cursor.fetchall()]


def _write_transcripts(source: Any, folder: Path, changes: _Range) -> int:
    """One new part for each run that has new transcripts; a part never changes. Returns how many were written."""
    root = folder / TRANSCRIPTS
    if not changes.since:
        shutil.rmtree(root, ignore_errors=True)
    written = 0
    for run_id, rows in _by_run(source, changes):
        part = root / run_id / f"{changes.until:020d}.parquet"
        part.parent.mkdir(parents=True, exist_ok=True)
        partial = part.with_suffix(".partial")
        _write_table(rows, partial, compression="none", row_group_size=256)
        partial.rename(part)
        written += 1
    return written


def _by_run(source: Any, changes: _Range) -> Iterator[tuple[str, Any]]:
    with source.cursor() as cursor:
        cursor.execute(TRANSCRIPTS_SQL, changes.parameters)
        table = cursor.fetch_arrow_table()
    for run_id in table.column("run_id").unique().to_pylist():
        mask = [value == run_id for value in table.column("run_id").to_pylist()]
        yield run_id, table.filter(mask).drop_columns(["run_id"])
