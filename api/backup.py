"""A backup of everything that cannot be had again: one file, by the tools of Postgres itself. And back.

Postgres' programs come with the embedded one, and work on external servers too, up to their own version. Addresses are
given to them in their environment: a command line can be read by every user of the machine.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from psycopg.conninfo import conninfo_to_dict

from api.stack.addresses import Addresses
from api.stack.binaries import postgres_binaries
from api.stack.errors import StackError
from passgrid.warehouse.migrate import knows_revision, upgrade
from passgrid.warehouse.restoring import CLEAR, PUT_RIGHT, stored_runs

_VARIABLES = {
    "host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD",
    "dbname": "PGDATABASE", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY", "options": "PGOPTIONS", "passfile": "PGPASSFILE", "service": "PGSERVICE",
    "connect_timeout": "PGCONNECT_TIMEOUT", "channel_binding": "PGCHANNELBINDING",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore brought."""

    runs: int
    replaced: int
    """Runs that were in the database before, and are gone."""


def back_up(addresses: Addresses, file: Path) -> int:
    """Write a backup in one step and return its size in bytes: `file` is whole, or as it was before.

    It is one moment of the database, whatever runs meanwhile. Raises `StackError` where the database or the disk does
    not let us.
    """
    partial = file.with_name(f".{file.name}.partial")
    command = ["pg_dump", "--format=custom", "--no-owner", "--no-acl", "--exclude-table-data=public.heartbeats"]
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            done = subprocess.run(
                [_program(command[0]), *command[1:], "--no-password"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                env=_environment(addresses),
                check=False,
            )
            if done.returncode != 0:
                raise StackError(f"The backup was not made: {_last_line(done.stderr)}", _remedy(done.stderr))
            os.fsync(out.fileno())
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size


def restore(addresses: Addresses, file: Path, *, force: bool = False) -> Restored:
    """Put a backup in place of what is in the database, in one transaction: all of it, or nothing happens.

    Runs that were active are paused. Raises `StackError` for a file that is no backup or of a newer version, and for a
    database that holds runs, unless forced.
    """
    revision = _revision(file)
    if not knows_revision(revision):
        raise StackError(
            f"{file} is from a newer version of Passgrid: revision {revision} is not known here.",
            "Upgrade Passgrid, then restore.",
        )
    there = stored_runs(addresses.database_url)
    if there and not force:
        raise StackError(
            f"The database holds {there} runs, which the backup would replace.",
            "Restore into an empty installation (PASSGRID_HOME=…), or give --force to lose them.",
        )
    _replay(addresses, file)
    upgrade(addresses.database_url)
    return Restored(stored_runs(addresses.database_url), there)


def _revision(file: Path) -> str:
    """The schema of a backup. Raises `StackError` where it is none of ours."""
    with file.open("rb") as found:  # a clear error for what cannot be read
        is_dump = found.read(5) == b"PGDMP"
    command = [_program("pg_restore"), "--data-only", "--table=alembic_version", "--file=-", str(file)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    version = re.search(r"^COPY public\.alembic_version .*\n(\S+)$", done.stdout, re.MULTILINE)
    if not is_dump or done.returncode != 0 or version is None:
        raise StackError(
            f"{file} is no backup of Passgrid, or not a whole one.", "Name a file that `passgrid backup` wrote."
        )
    return version[1]


def _replay(addresses: Addresses, file: Path) -> None:
    """Run the dump between what clears the way and what puts it right. Only the COMMIT at the end keeps any of it."""
    read = [_program("pg_restore"), "--no-owner", "--no-acl", "--schema=public", "--file=-", str(file)]
    run = [_program("psql"), "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with _started(run, _environment(addresses), stdin=subprocess.PIPE) as psql:
        assert psql.stdin is not None, "it is a pipe"
        whole = False
        with contextlib.suppress(BrokenPipeError):  # psql has given up, and says why
            psql.stdin.write(f"BEGIN;\n{CLEAR}\n".encode())
            with _started(read, dict(os.environ), stdout=subprocess.PIPE) as dump:
                assert dump.stdout is not None, "it is a pipe"
                shutil.copyfileobj(dump.stdout, psql.stdin, 1_000_000)
                whole = dump.wait() == 0
            if whole:
                psql.stdin.write(f"{PUT_RIGHT}\nCOMMIT;\n".encode())
        with contextlib.suppress(BrokenPipeError):
            psql.stdin.close()
        complaint = psql.stderr.read() if psql.stderr else b""
        failed = psql.wait() != 0
    if failed or not whole:
        reason = _last_line(complaint) if failed else f"{file} is not whole"
        raise StackError(f"Nothing was restored, and nothing was changed: {reason}", _remedy(complaint))


@contextlib.contextmanager
def _started(
    command: list[str],
    environment: dict[str, str],
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
) -> Generator[subprocess.Popen[bytes]]:
    """A program that does not outlive the block."""
    stderr = subprocess.PIPE if stdin == subprocess.PIPE else subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _program(name: str) -> str:
    return str(postgres_binaries() / name)


def _environment(addresses: Addresses) -> dict[str, str]:
    """Ours, with the address of the database as libpq's variables."""
    given = conninfo_to_dict(addresses.psycopg_url)
    unknown = sorted(set(given) - set(_VARIABLES))
    if unknown:
        raise StackError(
            f"PASSGRID_DATABASE_URL has the parameter {unknown[0]}, which cannot be given to Postgres' programs.",
            "Leave it out for this command.",
        )
    named = {_VARIABLES[name]: str(value) for name, value in given.items() if value is not None}
    return {**os.environ, **named, "PGAPPNAME": "passgrid backup"}


def _last_line(complaint: bytes) -> str:
    lines = [line for line in complaint.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "error:" in line]
    return (errors or lines or ["it gave no reason"])[0].strip()


def _remedy(complaint: bytes) -> str:
    if b"server version mismatch" in complaint:
        return "Use the pg_dump and pg_restore of that server, as docs/backup.md says."
    if b"No space" in complaint:
        return "Free some space, and try again."
    return "Try again; `passgrid doctor` says what is wrong with the stack."
