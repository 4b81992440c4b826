"""A site of several processes: schedulers and worker hosts of their own on the bare Postgres and broker."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import redis
import sqlalchemy as sa

from api.stack.python_command import python_environment, python_module
from tests.acceptance.commands import Installation
from tests.integration.runs import rows, value

PATIENCE_SECONDS = 180.0
"""How long a condition is waited for that holds within a few seconds on a quick machine."""
FEW_OF_EVERYTHING = {
    "PASSGRID_LIVE_SLOTS": "8",
    "PASSGRID_REPLAY_PROCESSES": "1",
    "PASSGRID_LEASE_SECONDS": "15",
    "PASSGRID_GRACE_SECONDS": "1",
}

LOGGED_CALLS = """
import asyncio, os
from passgrid import Call, policy

def log_call(turn, what=""):
    file = os.open({calls!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{{turn.scenario}} {{what}}\\n".encode())
    os.close(file)
"""
"""The head of a `policies.py` whose policies write a line to a file at every call that is really made."""


@dataclass
class Site:
    """Addresses, and the processes that a test started on them."""

    database_url: str
    broker_url: str
    engine: sa.Engine
    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @property
    def calls_file(self) -> Path:
        """Where policies log their calls."""
        return self.folder / "calls.log"

    def policies(self, text: str) -> str:
        """A `policies.py` with `log_call`."""
        return LOGGED_CALLS.format(calls=str(self.calls_file)) + text

    def calls(self, scenario: str = "") -> list[str]:
        """Every model call that was really made, of one scenario where it is given."""
        if not self.calls_file.exists():
            return []
        return [line for line in self.calls_file.read_text().splitlines() if line.split()[0].startswith(scenario)]

    def scheduler(self) -> subprocess.Popen[bytes]:
        """Start a scheduler."""
        return self._start("api.scheduler")

    def live(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a live worker host."""
        return self._start("workers.host", "live", **settings)

    def replay(self, **settings: str) -> subprocess.Popen[bytes]:
        """Start a replay worker host."""
        return self._start("workers.host", "replay", **settings)

    def _start(self, module: str, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"{module}-{len(self.processes)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                python_module(module, *arguments),
                env=self._environment(settings),
                stdout=output,
                stderr=output,
                cwd=self.folder,
            )
        self.processes.append(process)
        return process

    def _environment(self, settings: dict[str, str]) -> dict[str, str]:
        kept = {name: text for name, text in python_environment().items() if not name.startswith("PASSGRID_")}
        addresses = {"PASSGRID_DATABASE_URL": self.database_url, "PASSGRID_BROKER_URL": self.broker_url}
        return {**kept, **addresses, "PASSGRID_HOME": str(self.folder / "home"), **FEW_OF_EVERYTHING, **settings}

    @property
    def commands(self) -> Installation:
        """The command line on these addresses."""
        addresses = {"PASSGRID_DATABASE_URL": self.database_url, "PASSGRID_BROKER_URL": self.broker_url}
        return Installation(self.folder / "home", addresses)

    def submit(self, suite: Path, model: str, *more: str, **environment: str) -> str:
        """Submit a live run; gives its id."""
        command = ("submit-matrix", "--suite", suite, "--model", model, "--mode", "live", *more)
        commands = self.commands
        return Installation(commands.home, {**commands.environment, **environment}).json(*command)["run"]

    def rows(self, query: str, **parameters: Any) -> list[Any]:
        """What a query finds."""
        return rows(self.engine, query, **parameters)

    def value(self, query: str, **parameters: Any) -> Any:
        """The one value a query finds."""
        return value(self.engine, query, **parameters)

    def unfinished(self) -> int:
        """Attempts that are not done."""
        return self.value("SELECT count(*) FROM attempts WHERE state <> 'done'")

    def wait_for(self, what: str, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until it holds; after `seconds` fail, with the ends of all logs."""
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, f"not within {seconds} s: {what}\n{self.logs()}"
            time.sleep(0.05)

    def wait_until_done(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Wait for the end of every attempt."""
        self.wait_for("every attempt is done", lambda: not self.unfinished(), seconds)

    def logs(self, most: int = 3000) -> str:
        """The ends of the logs of all processes."""
        return "\n".join(f"--- {file.name}\n{file.read_text()[-most:]}" for file in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        """Kill what still runs, also what was paused."""
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def site_on(database_url: str, broker_url: str, engine: sa.Engine, folder: Path) -> Generator[Site]:
    """A site without any process yet; at the end none is left of it, and no hint."""
    client: Any = redis.Redis(unix_socket_path=urlparse(broker_url).path)
    client.flushall()
    site = Site(database_url, broker_url, engine, folder)
    try:
        yield site
    finally:
        site.stop()
        client.flushall()


def terminate(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> list[int]:
    """Tell all of them to stop at once; their exit codes, in their order. Raises `TimeoutExpired` where one is late."""
    until = time.monotonic() + seconds
    for process in processes:
        process.send_signal(signal.SIGTERM)
    return [process.wait(max(0.1, until - time.monotonic())) for process in processes]


def runs(pid: int) -> bool:
    """Whether there is such a process, not counting one that only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


SERVER = """
import asyncio, os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("slow")

@server.tool()
async def work(seconds: float) -> str:
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{os.getpid()}\\n".encode())
    os.close(file)
    await asyncio.sleep(seconds)
    return "worked"

@server.tool()
def die() -> str:
    os._exit(1)

server.run("stdio")
"""
"""Tells its process id when its slow tool is called."""


def add_server(suite: Path) -> None:
    """Put the server above into a suite."""
    (suite / "servers").mkdir()
    (suite / "servers" / "slow.py").write_text(SERVER)


def server_of(site: Site) -> dict[str, Any]:
    """A scenario's declaration of it."""
    return {"slow": {"command": "python", "args": ["${suite}/servers/slow.py", str(site.folder / "servers.pids")]}}


def server_pids(site: Site) -> set[int]:
    """Servers whose slow tool was called so far."""
    file = site.folder / "servers.pids"
    return {int(line) for line in file.read_text().split()} if file.exists() else set()
