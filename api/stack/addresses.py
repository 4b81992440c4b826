"""Where the database, the broker and the HTTP API are: external ones from the environment, or the embedded ones."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from api.stack.errors import StackError

_UNIX = "http+unix://"


@dataclass(frozen=True)
class Addresses:
    """The addresses of a stack. They may contain passwords: show them through `masked` only."""

    database_url: str
    """As SQLAlchemy spells it: `postgresql+psycopg://…`."""
    broker_url: str
    """As Celery spells it: `redis://…`, `rediss://…` or `redis+socket:///path?virtual_host=0`."""
    api_url: str | None
    """`http://…`, `https://…`, or `http+unix:///path` for a Unix socket; None when there is no HTTP API."""
    embedded: bool
    """Whether a supervisor of ours runs it."""

    @property
    def api_socket(self) -> Path | None:
        """The Unix socket of the HTTP API, None when it has none (`httpx2.HTTPTransport(uds=…)` talks to it)."""
        if self.api_url is None or not self.api_url.startswith(_UNIX):
            return None
        return Path(unquote(self.api_url.removeprefix(_UNIX)))

    @property
    def psycopg_url(self) -> str:
        """The address of the database as libpq, psycopg and ADBC spell it."""
        return re.sub(r"^postgresql\+\w+:", "postgresql:", self.database_url)


def unix_url(socket: Path) -> str:
    """Return the `http+unix` address of a Unix socket."""
    return _UNIX + quote(str(socket))


def external_addresses(environment: Mapping[str, str] | None = None) -> Addresses | None:
    """Return the addresses the environment names, None when it names none and the embedded stack is wanted.

    PASSGRID_DATABASE_URL and PASSGRID_BROKER_URL belong together; StackError when only one of them is set.
    PASSGRID_API_URL is optional; the services of an embedded stack find PASSGRID_API_SOCKET instead.
    """
    environment = os.environ if environment is None else environment
    database = environment.get("PASSGRID_DATABASE_URL", "").strip()
    broker = environment.get("PASSGRID_BROKER_URL", "").strip()
    if not database and not broker:
        return None
    if not database or not broker:
        present, missing = ("PASSGRID_DATABASE_URL", "PASSGRID_BROKER_URL")
        if not database:
            present, missing = missing, present
        raise StackError(
            f"{present} is set, but {missing} is not.",
            f"Set {missing} too, or unset {present} to use the embedded stack.",
        )
    if re.match(r"postgres(ql)?://", database):  # what most hosters hand out; SQLAlchemy wants the driver named
        database = "postgresql+psycopg://" + database.split("://", 1)[1]
    socket = environment.get("PASSGRID_API_SOCKET", "").strip()
    api = environment.get("PASSGRID_API_URL", "").strip() or (unix_url(Path(socket)) if socket else None)
    return Addresses(database, broker, api, embedded=False)


def masked(url: str) -> str:
    """Return an address with its password, in the authority or the query, replaced by `***`."""
    url = re.sub(r"(?<=://)([^:/@?#]*):[^/?#]*@", r"\1:***@", url)
    return re.sub(r"([?&](?:\w*password|token)=)[^&#]*", r"\1***", url, flags=re.IGNORECASE)
