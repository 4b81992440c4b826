"""What `passgrid status` prints."""

import os
from dataclasses import dataclass
from pathlib import Path

from api.stack.addresses import Addresses, external_addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.locks import gate, is_held, living_users, supervisor_runs
from api.stack.reachable import broker_version, postgres_version
from api.stack.state import Phase, ServiceState, StackState, read_state
from api.stack.versions import installed_versions


@dataclass(frozen=True)
class ServiceStatus:
    """One process of the embedded stack, as seen now."""

    name: str
    pid: int | None
    """None while it waits to be started again."""
    alive: bool
    restarts: int
    """How often it died and was started again."""


@dataclass(frozen=True)
class StackStatus:
    """The stack as seen now, without starting anything."""

    home: Path
    running: bool
    """Embedded: the supervisor lives. External: database and broker both answer."""
    phase: Phase | None
    """Where the embedded stack is in its life; None when there is none, or it has only just been started."""
    pid: int | None
    """The supervisor; None when none runs."""
    since: float | None
    """When the supervisor started, in seconds since 1970."""
    addresses: Addresses | None
    """None while nothing runs."""
    versions: dict[str, str]
    """By name: passgrid, pydantic-ai, mcp, and postgres and valkey where they are known."""
    services: tuple[ServiceStatus, ...]
    users: tuple[int, ...]
    """The processes that use the embedded stack now."""
    held: bool
    """Whether `passgrid up` holds it."""
    problem: str = ""
    """What is wrong with it, empty when nothing is known to be."""


def stack_status(home: Home | None = None) -> StackStatus:
    """Return how the stack is. Raises StackError only when that cannot be found out."""
    home = home or Home.from_environment()
    external = external_addresses()
    if external is not None:
        return _external_status(home, external)
    if not home.control.is_dir():
        return _nothing(home)
    with gate(home):
        running, users, held = supervisor_runs(home), living_users(home), is_held(home)
        state = read_state(home)
    if not running or state is None:
        reason = state.reason if state and state.phase == "failed" else ""
        return _nothing(home, running, users, held, reason)
    return StackStatus(
        home.root,
        running=True,
        phase=state.phase,
        pid=state.pid,
        since=state.since,
        addresses=state.addresses,
        versions=installed_versions() | _running_versions(state),
        services=tuple(_service(service) for service in state.services),
        users=users,
        held=held,
        problem=state.reason,
    )


def _running_versions(state: StackState) -> dict[str, str]:
    """Return the versions the running stack reported: they may be older than what is installed now."""
    return state.versions or {}


def _service(service: ServiceState) -> ServiceStatus:
    return ServiceStatus(service.name, service.pid, service.pid is not None and _lives(service.pid), service.restarts)


def _lives(pid: int) -> bool:
    """Tell whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # it runs as another user
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def _nothing(
    home: Home, running: bool = False, users: tuple[int, ...] = (), held: bool = False, problem: str = ""
) -> StackStatus:
    return StackStatus(home.root, running, None, None, None, None, installed_versions(), (), users, held, problem)


def _external_status(home: Home, addresses: Addresses) -> StackStatus:
    versions = installed_versions()
    problems: list[str] = []
    for name, ask in (("postgres", postgres_version), ("valkey", broker_version)):
        try:
            versions[name] = ask(addresses)
        except StackError as error:
            problems.append(error.problem)
    return StackStatus(
        home.root, not problems, None, None, None, addresses, versions, (), (), held=False, problem="\n".join(problems)
    )
