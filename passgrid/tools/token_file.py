"""Where logins to hosted servers are kept: a file for each in PASSGRID_HOME, readable by its owner alone."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from mcp.client.auth import TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken

from passgrid.identity import short_id
from passgrid.server import HttpServer

LOCK_SECONDS = 0.05
"""Between two looks at a lock another process holds."""


def logins_folder(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of all logins. Raises `RuntimeError` where this user has no home folder and PASSGRID_HOME is unset."""
    given = os.environ if environment is None else environment
    if home := given.get("PASSGRID_HOME"):
        return Path(home).expanduser().resolve() / "logins"
    data = Path(given.get("XDG_DATA_HOME", ""))
    base = data if data.is_absolute() else Path.home() / ".local" / "share"
    return (base / "passgrid").resolve() / "logins"


def login_of(server: HttpServer) -> TokenFile:
    """The file of a server's login, whether or not there is one."""
    client = server.oauth.client_id if server.oauth else None
    scopes = list(server.oauth.scopes) if server.oauth else []
    return TokenFile(logins_folder() / f"{short_id([server.url, client, scopes])}.json")


@dataclass(frozen=True)
class TokenFile(TokenStorage):
    """One login: tokens and when they expire, the client that was registered, and where tokens are renewed."""

    path: Path

    @property
    def exists(self) -> bool:
        """Whether somebody logged in."""
        return bool(self._read().get("tokens"))

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, where there are any."""
        found = self._read().get("tokens")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep new tokens, and until when they are good."""
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._keep(tokens=tokens.model_dump(mode="json", exclude_none=True), expires_at=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client that was registered, where one was."""
        found = self._read().get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client that was registered."""
        self._keep(client=client_info.model_dump(mode="json", exclude_none=True))

    def expires_at(self) -> float | None:
        """When the access token expires; None where nobody said."""
        return self._read().get("expires_at")

    def metadata(self) -> OAuthMetadata | None:
        """What the authorization server said of itself at the login."""
        found = self._read().get("metadata")
        return OAuthMetadata.model_validate(found) if found else None

    def keep_metadata(self, metadata: OAuthMetadata | None) -> None:
        """Keep it: tokens are renewed where it says."""
        self._keep(metadata=None if metadata is None else metadata.model_dump(mode="json", exclude_none=True))

    def secrets(self) -> set[str]:
        """Everything in it that must not be seen anywhere."""
        kept = self._read()
        found = {kept.get(part, {}).get(name) for part, name in _SECRET}
        return {value for value in found if value}

    def forget(self) -> bool:
        """Remove the login; whether there was one."""
        there = self.path.exists()
        self.path.unlink(missing_ok=True)
        return there

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """Nobody else renews these tokens meanwhile, in no process of this machine."""
        self._make_folder()
        descriptor = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(LOCK_SECONDS)
            yield
        finally:
            os.close(descriptor)

    def _read(self) -> dict[str, Any]:
        try:
            return orjson.loads(self.path.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return {}

    def _keep(self, **parts: Any) -> None:
        self._make_folder()
        partial = self.path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps({**self._read(), **parts}))
        os.replace(partial, self.path)

    def _make_folder(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


_SECRET = (
    ("tokens", "access_token"),
    ("tokens", "refresh_token"),
    ("client", "client_secret"),
    ("client", "registration_access_token"),
)
