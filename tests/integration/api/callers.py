"""Callers of the API over TCP, one for each role."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from fastapi.testclient import TestClient

from api.tokens import create_locally
from passgrid.access import Role

As = Callable[[Role | None], TestClient]
"""A client with a token of this role, or with none."""


def bearer(engine: sa.Engine, role: Role, name: str = "") -> dict[str, str]:
    """The header of a new token."""
    made = create_locally(engine, name or f"{role}-token", role, None)
    return {"Authorization": f"Bearer {made.text}"}
