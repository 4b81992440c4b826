"""Sessions of the protocol with a handshake."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Protocol

from passgrid.wire.mcp_service import Identity


class SessionEnded(Exception):
    """The session a request came in is over: ended by its client by way of another process."""


@dataclass(frozen=True, slots=True)
class Session:
    """One client's session on a mount."""

    session_id: str
    mount: str
    version: str
    """The protocol version agreed on."""
    identity: Identity
    """What it was begun with."""
    initialized: bool = False


class Sessions(Protocol):
    """Where sessions are kept."""

    async def begin(self, mount: str, version: str, identity: Identity) -> Session:
        """A new session."""
        ...

    async def find(self, mount: str, session_id: str) -> Session | None:
        """The session of this id on this mount; None where there is none."""
        ...

    async def initialized(self, session: Session) -> None:
        """Its handshake is complete."""
        ...

    async def end(self, session: Session) -> None:
        """It is over."""
        ...


class MemorySessions:
    """Sessions of one process; the oldest are forgotten where there are too many."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()

    async def begin(self, mount: str, version: str, identity: Identity) -> Session:
        """See `Sessions`."""
        session = Session(new_session_id(), mount, version, identity)
        self._sessions[(mount, session.session_id)] = session
        if len(self._sessions) > self._most:
            self._sessions.popitem(last=False)
        return session

    async def find(self, mount: str, session_id: str) -> Session | None:
        """See `Sessions`."""
        return self._sessions.get((mount, session_id))

    async def initialized(self, session: Session) -> None:
        """See `Sessions`."""
        key = (session.mount, session.session_id)
        if key in self._sessions:
            self._sessions[key] = replace(session, initialized=True)

    async def end(self, session: Session) -> None:
        """See `Sessions`."""
        self._sessions.pop((session.mount, session.session_id), None)


def new_session_id() -> str:
    """One that nobody can guess."""
    return secrets.token_urlsafe(24)
