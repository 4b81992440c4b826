"""Running a module of ours with this interpreter, finding the same source as this process."""

import os
import sys
import sysconfig
from pathlib import Path


def python_module(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module with this interpreter.

    `-P` keeps the current folder out of `sys.path`: a user's folder may well have an `api` or `workers` in it.
    """
    return (sys.executable, "-P", "-m", module, *arguments)


def python_environment() -> dict[str, str]:
    """Return our environment, with this source tree on PYTHONPATH when Passgrid is not installed but run from it."""
    environment = dict(os.environ)
    tree = str(Path(__file__).resolve().parents[2])
    if tree not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        known = environment.get("PYTHONPATH", "").split(os.pathsep)
        environment["PYTHONPATH"] = os.pathsep.join([tree, *(entry for entry in known if entry and entry != tree)])
    return environment
