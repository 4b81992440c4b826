"""Who is there: schedulers and workers say so every few seconds."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

import sqlalchemy as sa

BEAT_SECONDS = 5.0
ALIVE_SECONDS = 20.0
"""A process that was silent for so long counts as gone: it missed three heartbeats."""
_FORGET = "1 day"


@dataclass(frozen=True, slots=True)
class Kin:
    """The processes of one kind."""

    kind: str
    """scheduler, replay or live."""
    alive: int
    silent_s: float
    """Seconds since any of them was heard of last."""


class Heartbeat:
    """Beats from a loop that turns faster than it has to: a loop that hangs is silent, which is what should show."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._next = 0.0

    def beat_if_due(self, connection: sa.Connection) -> None:
        """Say that this process is there, unless it did so just now."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + BEAT_SECONDS
            beat(connection, self._kind)


def beat(connection: sa.Connection, kind: str) -> None:
    """Say that this process is there, and commit. The names of those long gone are forgotten."""
    host, pid = socket.gethostname(), os.getpid()
    connection.execute(
        sa.text(
            "INSERT INTO heartbeats (name, kind, host, pid, at) VALUES (:name, :kind, :host, :pid, clock_timestamp()) "
            "ON CONFLICT (name) DO UPDATE SET at = excluded.at"
        ),
        {"name": f"{kind}@{host}:{pid}", "kind": kind, "host": host, "pid": pid},
    )
    connection.execute(sa.text(f"DELETE FROM heartbeats WHERE at < clock_timestamp() - interval '{_FORGET}'"))  # noqa: S608
    connection.commit()


def leave(connection: sa.Connection, kind: str) -> None:
    """Say that this process ends, and commit."""
    name = f"{kind}@{socket.gethostname()}:{os.getpid()}"
    connection.execute(sa.text("DELETE FROM heartbeats WHERE name = :name"), {"name": name})
    connection.commit()


def kinds(connection: sa.Connection) -> dict[str, Kin]:
    """What is known of each kind of process that was heard of in the last day."""
    rows = connection.execute(
        sa.text(
            "SELECT kind, count(*) FILTER (WHERE at > clock_timestamp() - make_interval(secs => :alive)) AS alive, "
            "extract(epoch FROM clock_timestamp() - max(at))::float8 AS silent_s FROM heartbeats GROUP BY kind"
        ),
        {"alive": ALIVE_SECONDS},
    )
    return {row.kind: Kin(row.kind, row.alive, max(0.0, row.silent_s)) for row in rows}
