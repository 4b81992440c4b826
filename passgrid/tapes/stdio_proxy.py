"""A recording MCP stdio server in front of another one: bytes pass unchanged, line by line, and are kept.

It is a pair of threads over plain file descriptors, so that the client's stdin may be anything, and starts fast.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

from passgrid.problems import InvalidInput, Problem, Unreachable
from passgrid.tapes.frames import Frame, Sender
from passgrid.tapes.http_bodies import json_frames
from passgrid.tapes.writer import TapeWriter

CHUNK = 1 << 16
GRACE = 2.0
"""Seconds a server may take to end after it was told to."""


def proxy_stdio(command: Sequence[str], environment: Mapping[str, str], out: Path) -> int:
    """Serve stdin and stdout from `command` until either side ends.

    The exit code is the server's, for a signal 128 and its number.

    Raises `InvalidInput` where the command or the file cannot be, `TapeFailed` after a session whose tape is not whole.
    """
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None:
        raise InvalidInput([Problem(command[0], "no such program", "name one on PATH, or its path")])
    with TapeWriter(out, {"transport": "stdio", "program": Path(command[0]).name}) as writer:
        try:
            server = subprocess.Popen(
                [program, *command[1:]], env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        except OSError as error:
            raise Unreachable(f"{command[0]}: cannot be started: {error.strerror}") from error
        with _told_to_end(server):
            return _pass_all(server, writer)


def _pass_all(server: subprocess.Popen[bytes], writer: TapeWriter) -> int:
    assert server.stdin is not None
    assert server.stdout is not None
    # A daemon: it may wait for a client that never says another word.
    asking = threading.Thread(target=_pass, args=(0, server.stdin.fileno(), "client", writer, server), daemon=True)
    asking.start()
    _pass(server.stdout.fileno(), 1, "server", writer)
    code = server.wait()
    return code if code >= 0 else 128 - code


def _pass(source: int, to: int, sender: Sender, writer: TapeWriter, fed: subprocess.Popen[bytes] | None = None) -> None:
    """Pass lines on until the source ends or nobody reads; each is on the tape before it is passed."""
    rest = bytearray()
    with contextlib.suppress(BrokenPipeError):
        while chunk := os.read(source, CHUNK):
            # Whole lines only: half a message passed on and not kept would be missing from a tape cut short.
            *lines, tail = chunk.split(b"\n")
            for line in lines:
                rest += line
                _keep(bytes(rest), sender, writer)
                _write(to, bytes(rest) + b"\n")
                rest.clear()
            rest += tail
        _write(to, bytes(rest))
    if fed is not None and fed.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            fed.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            fed.wait(GRACE)
            return
        _end(fed)


def _keep(line: bytes, sender: Sender, writer: TapeWriter) -> None:
    if not line.strip():
        return
    for body in json_frames(line) or [None]:
        writer.add(Frame(sender, body))


def _write(to: int, data: bytes) -> None:
    while data:
        data = data[os.write(to, data) :]


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(GRACE)
    except subprocess.TimeoutExpired:
        server.kill()


@contextlib.contextmanager
def _told_to_end(server: subprocess.Popen[bytes]) -> Generator[None]:
    """Told to end, tell the server; its end ends us, with a whole tape. Nothing of it is left in any case."""

    def tell(number: int, frame: object) -> None:
        # Not from the handler itself: it would wait in the middle of a write.
        threading.Thread(target=_end, args=(server,), daemon=True).start()

    before = {number: signal.signal(number, tell) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        if server.poll() is None:
            _end(server)
        for number, handler in before.items():
            signal.signal(number, handler)
