"""A program under way: started by the launcher, its output read, and whatever it started ended with it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from passgrid.agents.bounded_output import BoundedOutput
from passgrid.sealing import starting_agent

log = logging.getLogger(__name__)

Network = Literal["own", "shared"]
"""own: a loopback and nothing else. shared: the machine's."""

LAUNCHER = Path(__file__).with_name("launcher.py")
ENDING_SECONDS = 10.0
"""How long the launcher may take to end everything before it is killed itself."""


REMEDY = (
    "a replayed agent needs a network of its own, so that it reaches nothing but its recording: on Linux allow user "
    "namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, "
    "kernel.apparmor_restrict_unprivileged_userns=0; in a container a seccomp profile that allows unshare)"
)


class NoNamespace(Exception):
    """The kernel gives the program no network of its own; the message says why, and what to do."""


class Unstartable(Exception):
    """There is no such program, or it is none."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended by itself."""

    code: int | None
    """Its exit code; None where a signal ended it, or nobody knows."""
    signal: int | None = None

    @property
    def well(self) -> bool:
        """Whether it says that all is well."""
        return self.code == 0

    def told(self) -> str:
        """For people."""
        if self.signal is None:
            return "was ended" if self.code is None else f"exited with {self.code}"
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(self.signal).name}"
        return f"was ended by signal {self.signal}"


class Program:
    """One program, from before its start to after its end."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._said = b""
        self.listener: socket.socket
        """Listens on the program's own loopback; whoever serves on it closes it."""
        self.stdout = BoundedOutput()
        self.stderr = BoundedOutput(head=16_000, tail=64_000)

    async def take_listener(self) -> None:
        """Get the listening socket from the launcher. Raises `NoNamespace`."""
        readable = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._control, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._control)
        data, handles, _, _ = socket.recv_fds(self._control, 65536, 1)
        self._said += data
        message = await self._heard()
        if not handles or message is None or "port" not in message:
            raise NoNamespace(f"{(message or {}).get('refused', 'the launcher ended')}; {REMEDY}")
        self.listener = socket.socket(fileno=handles[0])
        self.listener.setblocking(False)

    async def start(self, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        """Start it. Raises `Unstartable`."""
        order = {"argv": list(argv), "env": dict(env), "cwd": str(cwd)}
        await asyncio.get_running_loop().sock_sendall(self._control, json.dumps(order).encode() + b"\n")
        message = await self._heard()
        if message is None or "started" not in message:
            raise Unstartable(f"{argv[0]}: {(message or {}).get('unstartable', 'the launcher ended')}")

    async def end(self) -> ProgramEnd:
        """Wait until it has ended."""
        message = await self._heard() or {}
        return ProgramEnd(message.get("exit"), message.get("signal"))

    async def _heard(self) -> dict[str, Any] | None:
        """The next message of the launcher; None at its end."""
        loop = asyncio.get_running_loop()
        while b"\n" not in self._said:
            with contextlib.suppress(ConnectionError):
                if part := await loop.sock_recv(self._control, 65536):
                    self._said += part
                    continue
            return None
        line, _, self._said = self._said.partition(b"\n")
        return json.loads(line)


@contextlib.asynccontextmanager
async def launched(
    network: Network, stdin: Path, hidden: Sequence[Path] = (), read_only: Sequence[Path] = ()
) -> AsyncGenerator[Program]:
    """A program that can be started, and of which nothing is left afterwards: no process, however it was started.

    Its output is complete at the end. In a network of its own, the folders `hidden` are empty for it, and those in
    `read_only` cannot be changed.
    Raises `NoNamespace` where there is no network of its own to be had.
    """
    if network == "own" and not sys.platform.startswith("linux"):
        raise NoNamespace(f"{sys.platform} has no network namespaces; {REMEDY}")
    ours, theirs = socket.socketpair()
    with ours, contextlib.ExitStack() as stack:
        ours.setblocking(False)
        with theirs, stdin.open("rb") as task:
            launcher = _launcher(network, theirs, task, {"hidden": hidden, "read_only": read_only})
        program = Program(ours)
        readers = [
            await _reading(launcher.stdout, program.stdout),
            await _reading(launcher.stderr, program.stderr),
        ]
        stack.callback(lambda: [reader.close() for reader in readers])
        try:
            await program.take_listener()
            stack.enter_context(contextlib.closing(program.listener))
            yield program
        finally:
            # Whoever is cancelled meanwhile still leaves nothing behind.
            await asyncio.shield(asyncio.ensure_future(_ended(launcher, ours, readers)))


def _launcher(
    network: Network, control: socket.socket, stdin: IO[bytes], folders: Mapping[str, Sequence[Path]]
) -> subprocess.Popen[bytes]:
    told = json.dumps({what: list(map(str, paths)) for what, paths in folders.items()})
    with starting_agent():
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(LAUNCHER), str(control.fileno()), network, told],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[control.fileno()],
            start_new_session=True,
            env={},
        )


async def _ended(launcher: subprocess.Popen[bytes], control: socket.socket, readers: Sequence[_Reader]) -> None:
    """Have the launcher end everything, and take in the last of the output."""
    with contextlib.suppress(OSError):
        control.shutdown(socket.SHUT_WR)
    try:
        async with asyncio.timeout(ENDING_SECONDS):
            for reader in readers:
                await reader.done
            while launcher.poll() is None:  # noqa: ASYNC110 - it has closed its output: a moment
                await asyncio.sleep(0.002)
    except TimeoutError:
        log.error("the launcher of an agent did not end within %g s", ENDING_SECONDS)
        launcher.kill()
        launcher.wait()


class _Reader(asyncio.Protocol):
    """Takes in one stream of output."""

    def __init__(self, output: BoundedOutput) -> None:
        self._output = output
        self._transport: asyncio.BaseTransport | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._output.add(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def close(self) -> None:
        """Read no further."""
        if self._transport is not None:
            self._transport.close()


async def _reading(stream: IO[bytes] | None, output: BoundedOutput) -> _Reader:
    assert stream is not None, "its output is a pipe"
    reader = _Reader(output)
    await asyncio.get_running_loop().connect_read_pipe(lambda: reader, stream)
    return reader
