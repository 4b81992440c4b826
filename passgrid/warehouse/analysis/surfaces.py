"""The tools that attempts were offered, out of the blobs they are kept in: one row a tool and surface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import orjson

from passgrid.json_values import is_array, is_object
from passgrid.warehouse.blobs import decompress

_NEW = """
SELECT DISTINCT b.hash, b.body FROM attempts a JOIN blobs b ON b.hash = a.surface_hash
WHERE a.xid >= cast(cast($1 AS text) AS xid8) AND a.xid < cast(cast($2 AS text) AS xid8)
"""


def add_surfaces(source: Any, target: duckdb.DuckDBPyConnection, changed: tuple[str, str]) -> None:
    """Add the surfaces of attempts that changed between two transaction ids, those that are not there yet."""
    there = {row[0] for row in target.execute("SELECT DISTINCT surface FROM offered_tools").fetchall()}
    with source.cursor() as cursor:
        cursor.execute(_NEW, changed)
        fresh = [(name, body) for name, body in cursor.fetchall() if name not in there]
    rows = [row for name, body in fresh for row in surface_rows(name, decompress(body))]
    if rows:
        target.executemany("INSERT INTO offered_tools VALUES (?, ?, ?, ?)", rows)


def surface_rows(surface: str, document: bytes) -> Iterator[tuple[str, str, str, bool | None]]:
    """Hash, server, tool and whether it only reads, as the server says; it may say nothing about that."""
    tools: Any = orjson.loads(document)
    for tool in tools if is_array(tools) else ():
        if is_object(tool):
            annotations = tool.get("annotations")
            said = annotations.get("readOnlyHint") if is_object(annotations) else None
            reads = said if isinstance(said, bool) else None
            yield surface, str(tool.get("server") or ""), str(tool.get("name") or ""), reads
