"""The life of an embedded stack inside its supervisor: started, tended, stopped."""

import logging
import os
import signal
import subprocess
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from api.stack import postgres as postgres_launcher
from api.stack import valkey as valkey_launcher
from api.stack.accounts import server_account
from api.stack.addresses import Addresses, unix_url
from api.stack.child import Child, stop_all
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.leaving import Leaving
from api.stack.locks import supervisor_lock
from api.stack.logs import last_lines
from api.stack.orphans import end_orphans
from api.stack.parts import Parts
from api.stack.postgres import prepared_postgres
from api.stack.python_command import python_environment
from api.stack.services import Service
from api.stack.sockets import claimed_socket_folder
from api.stack.spawn import start_process
from api.stack.state import Phase, StackState, write_state
from api.stack.valkey import Valkey
from api.stack.versions import installed_versions

_log = logging.getLogger(__name__)

_PATIENCE_SERVICES = 10.0
_PATIENCE_SERVERS = 15.0
_PATIENCE_ORPHANS = 2.0
_TICK = 0.2
"""Seconds between two looks at the users; deaths of children are noticed at once."""

_HOPELESS = 12
"""Deaths in a row after which Postgres or Valkey is given up, which takes about half a minute."""


class StopRequested(Exception):
    """Somebody asked the supervisor to end while the stack was being started."""


class Stack:
    """Everything a supervisor holds. Used once: `run()`."""

    def __init__(self, home: Home, parts: Parts, lock: int, since: float) -> None:
        self._home = home
        self._parts = parts
        self._lock = lock
        self._since = since
        self._servers: list[Child] = []
        self._services: list[Child] = []
        self._addresses: Addresses | None = None
        self._versions = installed_versions()
        self._sockets = home.sockets

    def run(self) -> None:
        """Start the stack, keep it running as long as it is needed, stop it.

        Raises StackError when it cannot be started or kept running, StopRequested when it was stopped while starting.
        """
        self._write("starting")
        with ExitStack() as places:
            try:
                self._addresses = self._start_servers(places)
                self._parts.load_migrate()(self._addresses.database_url)
                _heed_stop_requests()
                self._start_services(self._addresses)
                self._write("up")
                _log.info("up after %.2f s", time.time() - self._since)
                self._tend(Leaving(self._home, self._parts, self._addresses.database_url))
            finally:
                self._stop()

    def _start_servers(self, places: ExitStack) -> Addresses:
        """Start Valkey, and Postgres meanwhile; return where they are once both answer. `places` has their folders."""
        account = server_account()
        places.enter_context(claimed_socket_folder(self._sockets, account))
        valkey = Valkey.below(self._home, self._sockets)
        broker = Child("valkey", valkey.start, valkey_launcher.STOP_SIGNAL)
        self._servers.append(broker)
        broker_process = broker.launch()
        postgres = places.enter_context(prepared_postgres(self._home, self._sockets, account))
        _heed_stop_requests()
        database = Child("postgres", postgres.start, postgres_launcher.STOP_SIGNAL, signal.SIGQUIT)
        self._servers.append(database)
        database_process = database.launch()
        self._versions["valkey"] = valkey_launcher.wait_until_ready(valkey, broker_process)
        self._versions["postgres"] = postgres_launcher.wait_until_ready(postgres, database_process)
        _heed_stop_requests()
        return Addresses(postgres.url, valkey.url, unix_url(self._api_socket), embedded=True)

    @property
    def _api_socket(self) -> Path:
        return self._sockets / "private" / "api.sock"

    def _start_services(self, addresses: Addresses) -> None:
        environment = python_environment() | {
            "PASSGRID_DATABASE_URL": addresses.database_url,
            "PASSGRID_BROKER_URL": addresses.broker_url,
            "PASSGRID_HOME": str(self._home.root),
            "PASSGRID_API_SOCKET": str(self._api_socket),
        }
        for service in self._parts.load_services():
            child = Child(service.name, partial(self._start_service, service, environment))
            self._services.append(child)
            child.launch()

    def _start_service(self, service: Service, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        return start_process(
            service.command,
            log=self._home.log(service.name),
            death_signal=signal.SIGKILL,
            environment=environment,
            folder=self._home.root,
        )

    def _tend(self, leaving: Leaving) -> None:
        """Keep everything running until it may end or is told to."""
        while self._owns_home() and not leaving.is_due():
            received = signal.sigtimedwait({signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}, _TICK)
            if received and received.si_signo in (signal.SIGTERM, signal.SIGINT):
                _log.info("asked to end by process %d", received.si_pid)
                return
            end_orphans({child.process.pid for child in self._children if child.process})
            changed = [child.name for child in self._children if child.tend()]
            if changed:
                self._write("up")
            self._check_servers()

    @property
    def _children(self) -> list[Child]:
        return [*self._servers, *self._services]

    def _check_servers(self) -> None:
        for server in self._servers:
            if server.deaths_in_a_row > _HOPELESS:
                raise StackError(
                    f"{server.name} keeps dying; the end of its log:\n{last_lines(self._home.log(server.name))}",
                    "The log says why; `passgrid doctor` looks for the cause.",
                )

    def _owns_home(self) -> bool:
        """Tell whether our lock file is still the one others would find: not so when the home was deleted."""
        try:
            return os.path.samestat(os.fstat(self._lock), supervisor_lock(self._home).stat())
        except FileNotFoundError:
            return False

    def _stop(self) -> None:
        """Stop everything: services first, then the broker, then the database."""
        if self._owns_home():
            self._write("ending")
        stop_all(self._services, _PATIENCE_SERVICES)
        for server in self._servers:
            stop_all([server], _PATIENCE_SERVERS)
        deadline = time.monotonic() + _PATIENCE_ORPHANS
        while end_orphans(()) and time.monotonic() < deadline:
            time.sleep(0.01)

    def _write(self, phase: Phase) -> None:
        state = StackState(
            phase=phase,
            pid=os.getpid(),
            since=self._since,
            sockets=str(self._sockets),
            addresses=self._addresses,
            versions=self._versions,
            services=tuple(child.state for child in self._children),
        )
        write_state(self._home, state)


def _heed_stop_requests() -> None:
    """Raise StopRequested when a signal to end has arrived (they are blocked)."""
    if {signal.SIGTERM, signal.SIGINT} & signal.sigpending():
        raise StopRequested
