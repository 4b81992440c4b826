"""What a supervisor is assembled from, by name: so that starting one imports none of it, and tests can replace it."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from api.stack.services import Service


@dataclass(frozen=True)
class Parts:
    """Names of the form `module:attribute` of what the supervisor calls and runs, and how long it lingers."""

    migrate: str = "passgrid.warehouse.migrate:upgrade"
    """`(database_url) -> None`: bring the database to the newest revision."""
    runnable: str = "passgrid.warehouse.progress:runnable_attempts"
    """`(database_url) -> int`: how many attempts still wait or run; the supervisor outlives its users for them."""
    services: str = "api.stack.services:SERVICES"
    """A sequence of `Service`."""
    grace: float = 2.0
    """Seconds the stack waits for the next command after its last user has gone."""

    def arguments(self) -> list[str]:
        """Return these as arguments of the supervisor's command line."""
        return [f"--{field.name}={getattr(self, field.name)}" for field in fields(self)]

    def load_migrate(self) -> Callable[[str], object]:
        """Import and return the migration."""
        return _load(self.migrate)

    def load_runnable(self) -> Callable[[str], int]:
        """Import and return the count of runnable attempts."""
        return _load(self.runnable)

    def load_services(self) -> "tuple[Service, ...]":
        """Import and return the services."""
        return tuple(cast("tuple[Service, ...]", _load(self.services)))


def _load(name: str) -> Any:
    import importlib

    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)
