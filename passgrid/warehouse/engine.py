"""Connections to Postgres. An engine is made after a fork, never before."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

CONNECT_SECONDS = 8


def libpq_url(database_url: str) -> str:
    """The address of a database as libpq, psycopg and ADBC spell it."""
    return re.sub(r"^postgresql\+\w+:", "postgresql:", database_url)


def make_engine(database_url: str, *, pool_size: int = 2, idle_s: float | None = None) -> sa.Engine:
    """An engine for one process. Statements are prepared at first use; connections are checked before use.

    idle_s: seconds after which Postgres ends a transaction in which nothing is done. A process that stands still in
    one, or whose machine is gone, would keep its locks, and with them everybody else.
    """
    engine = sa.create_engine(
        database_url,
        pool_size=pool_size,
        max_overflow=4,
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT_SECONDS, "prepare_threshold": 1, "application_name": "passgrid"},
    )
    if idle_s is not None:
        setting = f"SET idle_in_transaction_session_timeout = {round(idle_s * 1000)}"

        def limit(connection: Any, _: object) -> None:
            connection.execute(setting)
            connection.commit()

        event.listen(engine, "connect", limit)
    return engine
