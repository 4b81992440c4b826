"""Give, list and revoke API tokens: for the command line and the HTTP API alike, each with its row in the audit."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from passgrid.access import LOCAL, Role, Token
from passgrid.parts import NAME_PATTERN
from passgrid.problems import InvalidInput, Problem
from passgrid.warehouse import access
from passgrid.warehouse.access import StoredToken
from passgrid.warehouse.audit import record

LONGEST_NAME = 100
MOST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made: the only time its secret is there to be shown."""

    text: str
    stored: StoredToken


def create_token(connection: sa.Connection, name: str, role: str, days: int | None) -> NewToken:
    """Make a token in the caller's transaction. Raises `InvalidInput` with everything that is wrong."""
    check_wanted(name, role, days)
    token = Token.new()
    stored = access.add_token(connection, token, name, Role(role), days)
    if stored is None:
        raise InvalidInput([Problem(f"token {name}", "there is or was one of this name", "choose another")])
    return NewToken(token.text, stored)


def revoke_token(connection: sa.Connection, name: str) -> StoredToken:
    """Put a token out of force in the caller's transaction. Raises `LookupError` where there is none of this name."""
    revoked = access.revoke_token(connection, name) if "\0" not in name else None
    if revoked is None:
        raise LookupError(f"no token is called {name}; see `passgrid token list`")
    return revoked


def create_locally(engine: sa.Engine, name: str, role: str, days: int | None) -> NewToken:
    """What `passgrid token create` does."""
    with engine.begin() as connection:
        made = create_token(connection, name, role, days)
        record(connection, LOCAL.name, "token create", name, "done", detail=created_detail(made.stored))
    return made


def revoke_locally(engine: sa.Engine, name: str) -> StoredToken:
    """What `passgrid token revoke` does. Raises `InvalidInput` where there is no such token."""
    try:
        with engine.begin() as connection:
            revoked = revoke_token(connection, name)
            record(connection, LOCAL.name, "token revoke", name, "done")
    except LookupError as error:
        raise InvalidInput([Problem(f"token {name}", str(error.args[0]))]) from None
    return revoked


def created_detail(stored: StoredToken) -> dict[str, Any]:
    """What the audit keeps of a new token."""
    return {"role": stored.role, "expires_at": stored.expires_at.isoformat() if stored.expires_at else None}


def token_document(stored: StoredToken) -> dict[str, Any]:
    """A token as JSON, without its secret."""
    return asdict(stored)


def check_wanted(name: str, role: str, days: int | None) -> None:
    """Check what is wanted of a token, whatever tokens there are. Raises `InvalidInput` with every problem."""
    problems: list[Problem] = []
    if name == LOCAL.name:
        problems.append(Problem(f"token {name}", "this is what the audit calls the user of this machine"))
    elif len(name) > LONGEST_NAME or re.fullmatch(NAME_PATTERN, name) is None or name.endswith("\n"):
        message = f"must be 1 to {LONGEST_NAME} letters, digits, dots, hyphens or underscores, a letter or digit first"
        problems.append(Problem(f"token {name!r}", message))
    if role not in list(Role):
        problems.append(Problem(f"--role {role}", f"no such role; there are: {', '.join(Role)}"))
    if days is not None and not 1 <= days <= MOST_DAYS:
        problems.append(Problem(f"--days {days}", f"must be 1 to {MOST_DAYS}, or absent for a token that does not end"))
    if problems:
        raise InvalidInput(problems)
