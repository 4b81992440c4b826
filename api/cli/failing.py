"""Every mistake ends in one clear message and an exit code, never in a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from api.stack.errors import StackError
from passgrid.problems import PassgridError

ERROR = 1
USAGE = 2
INCONCLUSIVE = 4


class Stopped(PassgridError):
    """What was waited for did not come to its end."""


def run_command(command: Callable[[], Any]) -> None:
    """Run a command line to its exit code."""
    try:
        command()
    except PassgridError as error:
        fail(str(error), error.exit_code)
    except StackError as error:
        fail(str(error), ERROR)
    except KeyboardInterrupt:
        fail("interrupted", 130)
    except OSError as error:
        fail(_os_message(error), ERROR)
    except Exception as error:
        if (message := _database_message(error)) is None:
            raise
        fail(message, ERROR)


def fail(message: str, code: int) -> None:
    """Print a message, each problem on its line, and exit."""
    lines = message.splitlines() or [""]
    head = "error: " if len(lines) == 1 else f"error: {len(lines)} problems\n  "
    print(head + "\n  ".join(lines), file=sys.stderr)
    raise SystemExit(code)


def _os_message(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"


def _database_message(error: Exception) -> str | None:
    """The message for a database or broker that went away during a command; None for any other error."""
    from psycopg.errors import UndefinedColumn, UndefinedTable
    from redis.exceptions import RedisError
    from sqlalchemy.exc import OperationalError, ProgrammingError

    if isinstance(error, OperationalError):
        return f"the database cannot be used: {str(error.orig).strip()}; `passgrid doctor` says what is wrong"
    if isinstance(error, ProgrammingError) and isinstance(error.orig, UndefinedTable | UndefinedColumn):
        return "the database does not have the schema of this version: run `alembic upgrade head` on it"
    if isinstance(error, RedisError):
        return f"the broker cannot be used: {error}; `passgrid doctor` says what is wrong"
    return None
