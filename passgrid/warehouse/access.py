"""API tokens as stored: their hashes, never their secrets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from passgrid.access import Role, Token

_COLUMNS = (
    "id, name, role, created_at, last_used_at, expires_at, revoked_at, "
    "CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'valid' END AS state"
)


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it can be shown: without its secret."""

    id: str
    name: str
    role: Role
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None
    state: str
    """valid, expired or revoked."""


def add_token(connection: sa.Connection, token: Token, name: str, role: Role, days: int | None) -> StoredToken | None:
    """Store a token that expires after `days`, or never; None where the name has been given before."""
    row = connection.execute(
        sa.text(
            "INSERT INTO api_tokens (id, name, role, secret_hash, expires_at) VALUES (:id, :name, :role, :hash, "  # noqa: S608
            "now() + make_interval(days => cast(:days AS integer))) "
            f"ON CONFLICT (name) DO NOTHING RETURNING {_COLUMNS}"
        ),
        {"id": token.token_id, "name": name, "role": role, "hash": token.secret_hash, "days": days},
    ).one_or_none()
    return _stored(row) if row is not None else None


def list_tokens(connection: sa.Connection) -> list[StoredToken]:
    """Every token ever given, the oldest first."""
    rows = connection.execute(sa.text(f"SELECT {_COLUMNS} FROM api_tokens ORDER BY created_at, id"))  # noqa: S608
    return [_stored(row) for row in rows]


def revoke_token(connection: sa.Connection, name: str) -> StoredToken | None:
    """Put a token out of force, once and for all; None where there is none of this name."""
    row = connection.execute(
        sa.text(
            f"UPDATE api_tokens SET revoked_at = coalesce(revoked_at, now()) WHERE name = :name RETURNING {_COLUMNS}"  # noqa: S608
        ),
        {"name": name},
    ).one_or_none()
    return _stored(row) if row is not None else None


def known_token(connection: sa.Connection, token: Token) -> StoredToken | None:
    """The stored token that this one is, whatever its state; None where the id or the secret is wrong."""
    row = connection.execute(
        sa.text(f"SELECT {_COLUMNS}, secret_hash FROM api_tokens WHERE id = :id"),  # noqa: S608
        {"id": token.token_id},
    ).one_or_none()
    return _stored(row) if row is not None and token.fits(row.secret_hash) else None


def note_use(connection: sa.Connection, token_id: str) -> None:
    """Remember that a token was used just now. To the minute: else every request would write."""
    connection.execute(
        sa.text(
            "UPDATE api_tokens SET last_used_at = now() WHERE id = :id "
            "AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')"
        ),
        {"id": token_id},
    )


def _stored(row: Any) -> StoredToken:
    return StoredToken(
        id=row.id,
        name=row.name,
        role=Role(row.role),
        created_at=row.created_at,
        last_used_at=row.last_used_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        state=row.state,
    )
