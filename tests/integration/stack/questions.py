"""Asking a stack whether it works, and starting other processes that use it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg

from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.python_command import python_environment
from api.stack.reachable import check_reachable
from api.stack.state import StackState, read_state
from tests.integration.stack.processes import process

JOIN = """
import sys
from pathlib import Path
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import joined_stack
from api.stack.state import read_state
from tests.integration.stack.dummies import parts
home = Home.from_environment()
with joined_stack(home, parts()):
    print(read_state(home).pid, flush=True)
    sys.stdin.read()
"""


def sql(addresses: Addresses, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement in a connection of its own."""
    with psycopg.connect(addresses.psycopg_url, connect_timeout=5) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def state(home: Home) -> StackState:
    """Return what the supervisor says about itself."""
    found = read_state(home)
    assert found is not None
    return found


def pid_of(home: Home, name: str) -> int:
    """Return the process of a service that is running now."""
    pid = next(service.pid for service in state(home).services if service.name == name)
    assert pid is not None
    return pid


def supervisor_is_gone(pid: int) -> bool:
    return process(pid) is None


def answers(addresses: Addresses) -> bool:
    """Tell whether both servers answer."""
    try:
        check_reachable(addresses)
    except StackError:
        return False
    return True


def another_user(script: str = JOIN) -> subprocess.Popen[str]:
    """Start a process that joins the stack, prints the supervisor's pid, and leaves when its input is closed."""
    return subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=python_environment(),
    )


def answer_of(user: subprocess.Popen[str]) -> int:
    """Wait until that process has joined and return the supervisor it found."""
    assert user.stdout is not None
    return int(user.stdout.readline())


def socket_folder(home: Home) -> Path:
    """Return the folder of the sockets the running stack chose."""
    return Path(state(home).sockets)
