"""The doctor's look at the machine: folders, binaries, accounts. Nothing is started or created."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from api.stack.accounts import can_enter, server_account
from api.stack.binaries import postgres_binaries, valkey_binary
from api.stack.finding import Finding, examine_all
from api.stack.home import Home
from api.stack.sockets import LONGEST_PATH, choose_socket_folder

_LITTLE_SPACE = 1_000_000_000
"""Bytes below which the disk counts as full: Postgres alone keeps up to 1 GB of write-ahead log."""


def machine_findings(home: Home) -> Iterator[Finding]:
    """Yield what can be said without a running stack."""
    yield from examine_all(
        (
            ("home", lambda: _home(home)),
            ("free space", lambda: _free_space(home)),
            ("postgres binary", lambda: _version_of(postgres_binaries() / "postgres")),
            ("valkey binary", lambda: _version_of(valkey_binary())),
            ("sockets", lambda: _sockets(home)),
            ("postgres account", _account),
        )
    )


def optional_findings() -> Iterator[Finding]:
    """Yield what is only good to know: these are never wrong."""
    yield from examine_all(
        (
            ("node", lambda: _optional("MCP servers written in JavaScript", "node", "nodejs")),
            (
                "browser",
                lambda: _optional("screenshots of the dashboard", "chromium", "chromium-browser", "google-chrome"),
            ),
        )
    )


def _home(home: Home) -> Finding | str:
    place = _existing(home.root)
    if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
        return f"{home.root} is writable" if place == home.root else f"{home.root} can be created"
    return Finding(
        "home",
        False,
        f"{place} is not writable",
        "Set PASSGRID_HOME to a folder you can write to, or repair its permissions.",
    )


def _free_space(home: Home) -> Finding | str:
    place = _existing(home.root)
    free = shutil.disk_usage(place).free
    detail = f"{free / 1e9:.1f} GB free below {place}"
    if free >= _LITTLE_SPACE:
        return detail
    return Finding("free space", False, detail, "Free some space, or set PASSGRID_HOME to a folder on another disk.")


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.parents) if place.exists())


def _version_of(binary: Path) -> Finding | str:
    asked = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10)
    if asked.returncode == 0:
        return asked.stdout.strip()
    detail = f"{binary} does not run: {asked.stderr.strip() or asked.returncode}"
    return Finding(binary.name, False, detail, "Install Passgrid again on a supported platform (glibc Linux or macOS).")


def _sockets(home: Home) -> str:
    folder = choose_socket_folder(home.root)
    longest = len(os.fsencode(folder / "postgres" / ".s.PGSQL.5432"))
    return f"{folder}, the longest path has {longest} of {LONGEST_PATH} bytes"


def _account() -> str:
    account = server_account()
    if account is None:
        return "Postgres runs as this user"
    if can_enter(postgres_binaries(), account):
        return f"Postgres runs as {account.name}, which reaches the binaries"
    return f"Postgres runs as {account.name}, on a copy of the binaries: it cannot reach {postgres_binaries()}"


def _optional(purpose: str, *names: str) -> str:
    found = next((place for name in names if (place := shutil.which(name))), None)
    return found or f"not found; only needed for {purpose}"
