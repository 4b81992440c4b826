"""A stack of nothing but Postgres and the broker: tests play the other parts."""

from api.stack.services import Service

SERVICES: tuple[Service, ...] = ()


def migrate(database_url: str) -> None:
    """Tests make databases of their own."""


def runnable(database_url: str) -> int:
    """Nothing: the stack ends after its last user."""
    return 0
