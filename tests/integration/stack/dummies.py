"""Stand-ins for what the supervisor calls and runs, named in `Parts`; also `python -m` services for it to run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from api.stack.parts import Parts
from api.stack.python_command import python_module
from api.stack.services import Service
from passgrid.process import die_with_parent

NAME = "tests.integration.stack.dummies"

SLEEPER = (Service("sleeper", ("sleep", "1000")),)
FAMILY = (Service("family", python_module(NAME, "family")),)
STUBBORN = (Service("stubborn", python_module(NAME, "stubborn")),)
QUITTER = (Service("quitter", ("false",)),)
ENVIRONMENT = (Service("environment", ("sh", "-c", "env; exec sleep 1000")),)


def parts(services: str = "SLEEPER", migrate: str = "migrate") -> Parts:
    """Return the parts of a stack made of these stand-ins, which lingers for a moment only."""
    return Parts(f"{NAME}:{migrate}", f"{NAME}:runnable", f"{NAME}:{services}", grace=0.2)


def migrate(database_url: str) -> None:
    """Nothing to migrate."""


def failing_migration(database_url: str) -> None:
    """A migration that fails."""
    raise RuntimeError("revision 7 is not to be had")


def runnable(database_url: str) -> int:
    """As many attempts as the file `runnable` in PASSGRID_HOME says, none without one."""
    path = Path(os.environ["PASSGRID_HOME"], "runnable")
    return int(path.read_text()) if path.exists() else 0


def family() -> None:
    """Like a worker: a forked child that keeps the rule, and a program in a session of its own that knows none."""
    parent = os.getpid()
    if os.fork() == 0:
        die_with_parent(parent=parent)
        time.sleep(1000)
    subprocess.Popen(["sleep", "1001"], start_new_session=True)
    time.sleep(1000)


def stubborn() -> None:
    """Takes a second to end."""

    def leave(*_: object) -> None:
        time.sleep(1)
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    Path(os.environ["PASSGRID_HOME"], "stubborn").touch()
    while True:
        time.sleep(10)


if __name__ == "__main__":
    {"family": family, "stubborn": stubborn}[sys.argv[1]]()
