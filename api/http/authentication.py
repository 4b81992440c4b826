"""Who asks: the user of the private socket, or the bearer of a token."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from starlette.requests import HTTPConnection

from api.http.settings import HttpSettings, host_name
from passgrid.access import LOCAL, Caller, Token
from passgrid.warehouse.access import known_token, note_use

HOW = "make one where the server runs: passgrid token create NAME --role ROLE"


class Refused(Exception):
    """A request that does not come in."""

    def __init__(self, status: int, problem: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem)
        self.status = status
        self.problem = problem
        self.headers = headers or {}


def authenticate(connection: HTTPConnection, engine: sa.Engine, settings: HttpSettings) -> Caller:
    """Who asks. Raises `Refused` where that is not known.

    Only how the server was started makes a caller the local user: nothing a request holds can.
    """
    if settings.local:
        return LOCAL
    scheme, _, given = connection.headers.get("authorization", "").partition(" ")
    if not given:
        raise _unauthorized(f"a token is needed, as `Authorization: Bearer TOKEN`; {HOW}")
    token = Token.parse(given.strip()) if scheme.lower() == "bearer" else None
    if token is None:
        raise _unauthorized(f"the Authorization header holds no token of Passgrid; {HOW}", "invalid_token")
    with engine.begin() as database:
        known = known_token(database, token)
        if known is None:
            raise _unauthorized(f"the token is not known here; {HOW}", "invalid_token")
        if known.state != "valid":
            raise _unauthorized(f"the token {known.name} is {known.state}; {HOW}", "invalid_token")
        note_use(database, known.id)
    return Caller(known.name, known.role)


def check_host(connection: HTTPConnection, settings: HttpSettings) -> None:
    """Refuse requests that were meant for another name. Raises `Refused`."""
    if settings.local or settings.hosts is None:
        return
    named = connection.headers.get("host", "")
    if host_name(named) not in settings.hosts:
        raise Refused(421, f"Host: {named[:200]!r} is not a name of this server; PASSGRID_API_HOSTS lists its names")


def _unauthorized(problem: str, error: str | None = None) -> Refused:
    challenge = 'Bearer realm="passgrid"' + (f', error="{error}"' if error else "")
    return Refused(401, problem, {"WWW-Authenticate": challenge})
