"""Checking that the database and the broker answer, within seconds and with an error a person can act on."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any, cast

from api.stack.addresses import Addresses, masked
from api.stack.errors import StackError

DEADLINE = 9.0
"""Seconds all checks together may take; looking up a host name has no limit of its own."""

CONNECT_TIMEOUT = 5
"""Seconds to connect, and for the broker to answer; libpq knows no less than two."""

_MALFORMED = "it is not a well-formed address"  # what the driver says would quote parts of it, password and all

OLDEST_POSTGRES = 16
"""Major version of Postgres that is needed at least."""


def check_reachable(addresses: Addresses) -> None:
    """Raise StackError, naming the address and the remedy, unless database and broker both answer."""
    checks = {"database": lambda: postgres_version(addresses), "broker": lambda: broker_version(addresses)}
    failures: dict[str, StackError] = {}
    threads = [
        threading.Thread(target=_run, args=(name, check, failures), daemon=True) for name, check in checks.items()
    ]
    for thread in threads:
        thread.start()
    _join(threads)
    urls = {"database": addresses.database_url, "broker": addresses.broker_url}
    for name, thread in zip(checks, threads, strict=True):
        if name in failures:
            raise failures[name]
        if thread.is_alive():
            raise _unreachable(name, urls[name], f"no answer within {DEADLINE:.0f} seconds")


def _join(threads: list[threading.Thread]) -> None:
    end = time.monotonic() + DEADLINE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def _run(name: str, check: Callable[[], str], failures: dict[str, StackError]) -> None:
    try:
        check()
    except StackError as error:
        failures[name] = error


def postgres_version(addresses: Addresses) -> str:
    """Return the version of the database server. Raises StackError when it does not answer, or is too old."""
    import psycopg

    if not addresses.database_url.startswith("postgresql"):
        raise StackError(
            f"The database address {masked(addresses.database_url)} is not one of Postgres.",
            "Set PASSGRID_DATABASE_URL to postgresql+psycopg://user:password@host/database.",
        )
    try:
        with psycopg.connect(addresses.psycopg_url, connect_timeout=CONNECT_TIMEOUT) as connection:
            number = connection.info.server_version
            version = connection.info.parameter_status("server_version") or str(number)
    except psycopg.ProgrammingError:
        raise _unreachable("database", addresses.database_url, _MALFORMED) from None
    except psycopg.Error as error:
        raise _unreachable("database", addresses.database_url, _first_line(error)) from error
    if number // 10000 < OLDEST_POSTGRES:
        raise StackError(
            f"The database {masked(addresses.database_url)} runs Postgres {version}; {OLDEST_POSTGRES} is needed.",
            "Upgrade the server, or unset the addresses to use the embedded stack.",
        )
    return version.split()[0]


def broker_version(addresses: Addresses) -> str:
    """Return the version of the broker. Raises StackError when it does not answer."""
    import redis

    url = _redis_url(addresses.broker_url)
    try:
        make = cast("Any", redis.Redis).from_url  # its own type is incomplete
        with make(url, socket_connect_timeout=CONNECT_TIMEOUT, socket_timeout=CONNECT_TIMEOUT) as client:
            answer: dict[str, Any] = client.info("server")
    except ValueError:
        raise _unreachable("broker", addresses.broker_url, _MALFORMED) from None
    except (redis.RedisError, OSError) as error:
        raise _unreachable("broker", addresses.broker_url, _first_line(error)) from error
    return str(answer.get("valkey_version") or answer.get("redis_version") or "unknown")


def _redis_url(url: str) -> str:
    """Return a broker's address as the Redis client spells it. Raises StackError for other kinds of brokers."""
    if url.startswith("redis+socket://"):
        path, _, query = url.removeprefix("redis+socket://").partition("?")
        database = re.search(r"(?:^|&)virtual_host=/?(\d+)", query)
        return f"unix://{path}?db={database.group(1) if database else 0}"
    if not url.startswith(("redis://", "rediss://")):
        raise StackError(
            f"The broker address {masked(url)} is not one of Redis or Valkey.",
            "Set PASSGRID_BROKER_URL to redis://host:6379/0, rediss://… or redis+socket:///path?virtual_host=0.",
        )
    return url


def _unreachable(name: str, url: str, cause: str) -> StackError:
    variable = f"PASSGRID_{name.upper()}_URL"
    return StackError(
        f"The {name} {masked(url)} cannot be reached: {cause}",
        f"Check that it runs and accepts connections from here, and that {variable} is right; "
        "or unset PASSGRID_DATABASE_URL and PASSGRID_BROKER_URL to use the embedded stack.",
    )


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
