"""The audit: who asked to change what, and what came of it. A row is written before the change, and ended after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.storable import storable

LONGEST = 500
"""Characters of a subject that are kept: it is what a stranger sent."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One row."""

    id: int
    at: datetime
    actor: str | None
    action: str
    subject: str
    detail: dict[str, Any]
    outcome: str
    status: int | None


def begin(connection: sa.Connection, actor: str | None, action: str, subject: str) -> int:
    """Write down what is about to be done, in the caller's transaction; returns the row's id."""
    row = connection.execute(
        sa.text("INSERT INTO audit (actor, action, subject) VALUES (:actor, :action, :subject) RETURNING id"),
        {"actor": actor, "action": _plain(action), "subject": _plain(subject)},
    )
    return row.scalar_one()


def end(
    connection: sa.Connection,
    entry: int,
    outcome: str,
    *,
    action: str | None = None,
    detail: Mapping[str, Any] | None = None,
    status: int | None = None,
) -> None:
    """Write down what came of it: done, refused or failed. `action` says better what it was."""
    connection.execute(
        sa.text(
            "UPDATE audit SET outcome = :outcome, action = coalesce(:action, action), "
            "detail = cast(:detail AS jsonb), status = :status WHERE id = :id"
        ),
        {"id": entry, "outcome": outcome, "action": action, "status": status, "detail": _json(detail or {})},
    )


def record(
    connection: sa.Connection,
    actor: str | None,
    action: str,
    subject: str,
    outcome: str,
    *,
    detail: Mapping[str, Any] | None = None,
    status: int | None = None,
) -> None:
    """Write down at once what has been done or refused, in the transaction that does it."""
    end(connection, begin(connection, actor, action, subject), outcome, detail=detail, status=status)


def read_audit(connection: sa.Connection, *, before: int | None, limit: int) -> list[AuditEntry]:
    """The newest entries, at most `limit`; those before the entry `before` where one is named."""
    rows = connection.execute(
        sa.text(
            "SELECT id, at, actor, action, subject, detail, outcome, status FROM audit "
            "WHERE cast(:before AS bigint) IS NULL OR id < :before ORDER BY id DESC LIMIT :limit"
        ),
        {"before": before, "limit": limit},
    )
    return [AuditEntry(**row) for row in rows.mappings()]


def _plain(text: str) -> str:
    return storable(text.replace("\0", "\ufffd"))[:LONGEST]


def _json(detail: Mapping[str, Any]) -> str:
    return orjson.dumps(storable(dict(detail))).decode().replace("\\u0000", "\\ufffd")
