"""Give, list and revoke tokens."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from api.http.auditing import note
from api.http.database import Connection, Engine
from api.http.roles import GuardedRoute, needs
from api.tokens import LONGEST_NAME, MOST_DAYS, create_token, created_detail, revoke_token, token_document
from passgrid.access import Role
from passgrid.parts import NAME_PATTERN
from passgrid.warehouse.access import list_tokens

router = APIRouter(prefix="/tokens", tags=["tokens"], route_class=GuardedRoute, dependencies=[needs(Role.ADMIN)])


class TokenWanted(BaseModel):
    """A token to make."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=NAME_PATTERN, max_length=LONGEST_NAME)
    role: Role
    days: int | None = Field(default=None, ge=1, le=MOST_DAYS, description="Until it ends; never when null.")


@router.post("", status_code=201)
def new_token(wanted: TokenWanted, request: Request, engine: Engine) -> dict[str, Any]:
    """Make a token. The answer is the only place where it is shown."""
    with engine.begin() as connection:
        made = create_token(connection, wanted.name, wanted.role, wanted.days)
    note(request, name=wanted.name, **created_detail(made.stored))
    return {"token": made.text, **token_document(made.stored)}


@router.get("")
def all_tokens(connection: Connection) -> list[dict[str, Any]]:
    """Every token ever given, without its secret."""
    return [token_document(token) for token in list_tokens(connection)]


@router.delete("/{name}")
def end_token(name: str, engine: Engine) -> dict[str, Any]:
    """Put a token out of force at once, for good."""
    with engine.begin() as connection:
        return token_document(revoke_token(connection, name))
