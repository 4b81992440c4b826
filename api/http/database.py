"""Connections for request handlers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import sqlalchemy as sa
from fastapi import Depends, Request

from passgrid.warehouse.progress import find_run


def _engine(request: Request) -> sa.Engine:
    return request.app.state.engine


def _connection(request: Request) -> Iterator[sa.Connection]:
    with _engine(request).connect() as connection:
        yield connection


Engine = Annotated[sa.Engine, Depends(_engine)]
Connection = Annotated[sa.Connection, Depends(_connection)]


def _run_id(run: str, connection: Connection) -> str:
    """The id of the run named in the path; 404 where there is none."""
    return find_run(connection, run)


RunId = Annotated[str, Depends(_run_id)]
