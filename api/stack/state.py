"""What the supervisor says about itself: `state.json`, written atomically."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.home import Home

Phase = Literal["starting", "up", "ending", "failed"]
"""Where the supervisor is in its life. No file, but a living supervisor, means it has just been started."""


@dataclass(frozen=True)
class ServiceState:
    """One process below the supervisor."""

    name: str
    pid: int | None
    """None while it waits to be started again."""
    restarts: int
    """How often it died and was started again."""


@dataclass(frozen=True)
class StackState:
    """A supervisor's account of itself. Only as true as the supervisor is alive: its lock tells."""

    phase: Phase
    pid: int
    since: float
    """When the supervisor started, in seconds since 1970."""
    reason: str = ""
    """Why it failed, and what to do about it."""
    remedy: str = ""
    sockets: str = ""
    """The folder of the sockets."""
    addresses: Addresses | None = None
    versions: dict[str, str] | None = None
    """Versions by name: postgres, valkey, passgrid, pydantic-ai, mcp."""
    services: tuple[ServiceState, ...] = ()
    """Postgres and Valkey included."""


def read_state(home: Home) -> StackState | None:
    """Return what the last supervisor wrote, None when there is nothing. Raises StackError when it is damaged."""
    try:
        raw: dict[str, Any] = json.loads(_path(home).read_bytes())
        addresses = raw.pop("addresses")
        services = raw.pop("services")
        return StackState(
            **raw,
            addresses=Addresses(**addresses) if addresses else None,
            services=tuple(ServiceState(**service) for service in services),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StackError(
            f"{_path(home)} cannot be read ({error}); perhaps another version of Passgrid wrote it.",
            "Run `passgrid down`, then try again.",
        ) from error


def write_state(home: Home, state: StackState) -> None:
    """Write the state; readers see the old one or this one, never a part."""
    path = _path(home)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(asdict(state)))
    os.replace(part, path)


def announce_ending(home: Home) -> None:
    """Say that the supervisor, which is this process, is about to end: nobody can join it any more."""
    state = read_state(home)
    if state is not None:
        write_state(home, replace(state, phase="ending"))


def clear_state(home: Home) -> None:
    """Forget what an earlier supervisor wrote."""
    _path(home).unlink(missing_ok=True)


def _path(home: Home) -> Path:
    return home.control / "state.json"
