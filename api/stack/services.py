"""The processes of ours that the supervisor keeps running beside Postgres and Valkey."""

from dataclasses import dataclass

from api.stack.python_command import python_module


@dataclass(frozen=True)
class Service:
    """A process to keep running.

    It finds its addresses in PASSGRID_DATABASE_URL, PASSGRID_BROKER_URL, PASSGRID_HOME and PASSGRID_API_SOCKET, ends
    within ten seconds after SIGTERM, and its own children call `passgrid.process.die_with_parent` first thing.
    """

    name: str
    """Also the name of its log file."""
    command: tuple[str, ...]


SERVICES = (
    Service("scheduler", python_module("api.scheduler")),
    Service("beat", python_module("api.nightly.beat")),
    Service("replay", python_module("workers.host", "replay")),
    Service("live", python_module("workers.host", "live")),
    Service("http", python_module("api.http")),
)
"""What an embedded stack consists of, in the order it is started."""
