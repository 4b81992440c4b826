"""COPY: many rows in one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from psycopg import sql


def copy_rows(connection: sa.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into a table by COPY, in the caller's transaction; rows are streamed, never held."""
    raw: Any = connection.connection.driver_connection
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with raw.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
