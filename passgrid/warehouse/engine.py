"""Connections to Postgres. An engine is made after a fork, never before."""

from __future__ import annotations

import sqlalchemy as sa

CONNECT_SECONDS = 8


def make_engine(database_url: str, *, pool_size: int = 2) -> sa.Engine:
    """An engine for one process. Statements are prepared at first use; connections are checked before use."""
    return sa.create_engine(
        database_url,
        pool_size=pool_size,
        max_overflow=4,
        pool_pre_ping=True,
        connect_args={"connect_timeout": CONNECT_SECONDS, "prepare_threshold": 1, "application_name": "passgrid"},
    )
