"""Runs as a folder of tables, Parquet or JSON lines, that any tool reads and `passgrid import passgrid` takes back."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import adbc_driver_postgresql.dbapi
import orjson
import pyarrow
import pyarrow.parquet

from passgrid.importers.export_rows import MANIFEST, VERSION, Kind
from passgrid.problems import InvalidInput, Problem, Unreachable
from passgrid.warehouse.blobs import decompress

# Neither library has types for these.
_connect = cast(Any, adbc_driver_postgresql.dbapi).connect
_ParquetWriter = cast(Any, pyarrow.parquet).ParquetWriter
_pa = cast(Any, pyarrow)

_WANTED = "= ANY(string_to_array($1, ','))"
_ATTEMPT = f"JOIN attempts a ON a.key = t.attempt_key WHERE a.run_id {_WANTED} ORDER BY a.cell_key, a.sample"

QUERIES = {
    "runs": (
        "SELECT run_id, label, mode, created_at, finished_at, harness->>'passgrid' AS passgrid, "  # noqa: S608
        "harness->>'pydantic_ai' AS pydantic_ai, harness->>'mcp' AS mcp "
        f"FROM runs WHERE run_id {_WANTED} ORDER BY created_at, run_id"
    ),
    "attempts": (
        "SELECT a.run_id, a.attempt_id, c.model, c.prompt, c.target, c.fault, c.mitigation, c.agent, c.suite, "  # noqa: S608
        "c.scenario, c.tags, a.sample, a.outcome, a.outcome_detail, a.reason, a.model_turns, a.tool_calls, "
        "a.wasted_calls, a.input_tokens, a.output_tokens, a.cost_usd, a.duration_s, a.working_s, "
        "a.recovered_structured, a.recovered_opaque, a.leftovers, a.digest, a.started_at, "
        "a.finished_at FROM attempts a JOIN cells c ON c.key = a.cell_key "
        f"WHERE a.run_id {_WANTED} ORDER BY c.key, a.sample"
    ),
    "tool_calls": (
        "SELECT a.run_id, a.attempt_id, t.seq, t.turn, t.server, t.tool, t.arguments, t.result_bytes, "  # noqa: S608
        "t.answered, t.error, t.error_text, t.started_ms, t.duration_ms, t.asked, t.answered_at, t.score "
        f"FROM tool_calls t {_ATTEMPT}, t.seq"
    ),
    "model_calls": (
        "SELECT a.run_id, a.attempt_id, t.turn, t.answered, t.served_model, t.finish_reason, "  # noqa: S608
        "t.input_tokens, t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.cost_usd, t.cost_source, "
        f"t.started_ms, t.duration_ms FROM model_calls t {_ATTEMPT}, t.turn"
    ),
    "checks": (
        "SELECT a.run_id, a.attempt_id, t.name, t.kind, t.stage, t.required, t.passed, t.detail, "  # noqa: S608
        f"t.imported FROM checks t {_ATTEMPT}, t.stage, t.name"
    ),
    "flags": f"SELECT a.run_id, a.attempt_id, t.name, t.detail FROM flags t {_ATTEMPT}, t.name",  # noqa: S608
    "transcripts": f"SELECT a.run_id, a.attempt_id, t.body AS messages FROM transcripts t {_ATTEMPT}",  # noqa: S608
}
"""What fills each table: the columns of `passgrid.importers.export_rows`; $1 are the run ids, with commas between."""

_UNFINISHED = f"""
SELECT r.run_id, r.label, count(*) AS n FROM runs r JOIN attempts a USING (run_id)
WHERE r.run_id {_WANTED} AND a.state <> 'done' GROUP BY 1, 2 ORDER BY 2
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class ExportedRuns:
    """What was written."""

    folder: Path
    rows: dict[str, int]
    """By table."""


def export_runs(postgres_url: str, run_ids: Sequence[str], kind: Kind, folder: Path) -> ExportedRuns:
    """Write these runs into a new folder, as they are at one moment. It appears complete or not at all.

    Raises:
        InvalidInput: the folder holds something already, or a run is not finished; each is named.
        Unreachable: it cannot be written.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InvalidInput([Problem(f"--out {folder}", "is not empty", "name a folder that is not there yet")])
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        rows = _write(postgres_url, ",".join(run_ids), kind, partial)
        manifest = {"format": "passgrid", "version": VERSION, "kind": kind, "rows": rows}
        (partial / MANIFEST).write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        if folder.is_dir():
            folder.rmdir()
        partial.rename(folder)
    except OSError as error:
        remedy = "make room, or name another folder with --out"
        raise Unreachable(f"{folder}: the export could not be written: {error}; {remedy}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return ExportedRuns(folder, rows)


def _write(postgres_url: str, run_ids: str, kind: Kind, folder: Path) -> dict[str, int]:
    rows: dict[str, int] = {}
    with _connect(postgres_url) as source, source.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute(_UNFINISHED, (run_ids,))
        if unfinished := cursor.fetchall():
            raise InvalidInput(_not_finished(*row) for row in unfinished)
        for table, query in QUERIES.items():
            cursor.execute(query, (run_ids,))
            rows[table] = _write_table(cursor.fetch_record_batch(), folder / f"{table}.{kind}", kind)
    return rows


def _not_finished(run_id: str, label: str, count: int) -> Problem:
    message = f"{count} of its attempts are not finished"
    return Problem(f"RUN {run_id[:12]} ({label})", message, "wait for it (passgrid watch), or cancel it")


def _write_table(batches: Any, file: Path, kind: Kind) -> int:
    readable = (_with_text(batch) for batch in batches)
    if kind == "jsonl":
        return _write_lines(readable, file)
    return _write_parquet(readable, _with_text(batches.schema.empty_table()).schema, file)


def _with_text(rows: Any) -> Any:
    """The same rows with transcripts as JSON text."""
    if "messages" not in rows.schema.names:
        return rows
    place = rows.schema.get_field_index("messages")
    texts = [decompress(body).decode() for body in rows.column(place).to_pylist()]
    return rows.set_column(place, "messages", _pa.array(texts, _pa.string()))


def _write_parquet(batches: Iterator[Any], schema: Any, file: Path) -> int:
    count = 0
    with ExitStack() as stack:
        writer = stack.enter_context(_ParquetWriter(str(file), schema, compression="zstd"))
        for batch in batches:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _write_lines(batches: Iterable[Any], file: Path) -> int:
    count = 0
    with file.open("wb") as out:
        for batch in batches:
            for row in batch.to_pylist():
                out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                count += 1
    return count
