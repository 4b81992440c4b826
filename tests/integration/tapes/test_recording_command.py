"""`passgrid record` stands between any client and its server, and the tape is there whoever is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from passgrid.sealing import sealed
from passgrid.tapes.format import Tape, read_tape
from passgrid.tapes.replayer import Replay
from tests.integration.tapes.real_sessions import OWN, free_port, listening
from tests.mcp_sessions import Seen, use_everything

PASSGRID = str(Path(sys.executable).parent / "passgrid")
ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


def taped(path: Path) -> Tape:
    return read_tape(path.read_bytes())


async def replayed(path: Path, mode: str) -> Seen:
    seen = Seen()
    with sealed():
        async with seen.client(Replay(taped(path)), mode) as client:
            await use_everything(client, seen)
    return seen


def recorder(tape: Path, *server: str) -> list[str]:
    return [PASSGRID, "record", "stdio", "--out", str(tape), "--", *server]


@ERAS
async def test_a_stdio_server_is_recorded_for_a_client_that_cannot_tell(tmp_path: Path, mode: str) -> None:
    tape = tmp_path / "a.tape.jsonl"
    command, *arguments = recorder(tape, "python", str(OWN))
    through, bare = Seen(), Seen()
    for seen, program in ((through, [command, *arguments]), (bare, [sys.executable, str(OWN)])):
        server = StdioServerParameters(command=program[0], args=program[1:])
        async with seen.client(server, mode) as client:
            await use_everything(client, seen)
    assert through == bare
    assert taped(tape).complete
    assert taped(tape).source == {"transport": "stdio", "program": "python"}
    assert await replayed(tape, mode) == bare


HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
    b'"capabilities":{},"clientInfo":{"name":"a","version":"1"}}}\n'
)


def begun(tape: Path) -> subprocess.Popen[bytes]:
    """A recorder whose session has had its handshake."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(recorder(tape, "python", str(OWN)), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(HELLO)
    process.stdin.flush()
    assert b'"protocolVersion":"2025-11-25"' in process.stdout.readline()
    return process


def child_of(process: subprocess.Popen[bytes]) -> int:
    return int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the server, which Linux has")
@pytest.mark.parametrize("killed", ["client", "server", "recorder", "recorder, told"])
def test_the_tape_is_there_whoever_dies(tmp_path: Path, killed: str) -> None:
    tape = tmp_path / "a.tape.jsonl"
    with begun(tape) as process:
        server = child_of(process)
        if killed == "client":
            assert process.stdin is not None
            process.stdin.close()
        elif killed == "server":
            os.kill(server, signal.SIGKILL)
        else:
            process.send_signal(signal.SIGKILL if killed == "recorder" else signal.SIGTERM)
        code = process.wait(20)
    assert code == {"client": 0, "server": 137, "recorder": -9, "recorder, told": 143}[killed]
    assert taped(tape).complete == (killed != "recorder")
    assert [frame.sender for frame in taped(tape).frames] == ["client", "server"]
    assert gone(server)


def gone(pid: int) -> bool:
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists() or ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stdio", "--", "no-such-server"], "no-such-server: no such program"),
        (["stdio", "--env", "NOT_SET", "--", "python"], "--env NOT_SET: is not set in the environment"),
        (["http", "ftp://user:secret@a.test"], "is not an http or https address"),
        (["http", "http://a.test:99999/"], "is not an http or https address"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = subprocess.run([PASSGRID, "record", *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert message in done.stderr
    assert "secret" not in done.stderr
    assert list(tmp_path.iterdir()) == []


class Proxy:
    """A recorder of HTTP in front of our own server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = free_port()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.upstream = f"http://127.0.0.1:{self.server}/mcp"
        self.tape = folder / "a.tape.jsonl"

    def serving(self) -> AbstractAsyncContextManager[None]:
        """A fresh server of ours."""
        return listening([sys.executable, str(OWN), str(self.server)], self.server, self.folder)

    def tapes(self) -> list[Path]:
        return sorted(self.folder.glob("*.tape.jsonl"))

    def command(self, url: str) -> list[str]:
        return [PASSGRID, "record", "http", url, "--out", str(self.tape), "--port", str(self.port)]


@ERAS
async def test_an_http_server_is_recorded_for_a_client_that_cannot_tell(tmp_path: Path, mode: str) -> None:
    proxy = Proxy(tmp_path)
    upstream = f"http://user:s3cret@127.0.0.1:{proxy.server}/mcp?key=k3y"
    through, bare = Seen(), Seen()
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer t0ken"}, timeout=30)
    recorded = listening(proxy.command(upstream), proxy.port, tmp_path)
    taped_client = through.client(streamable_http_client(proxy.url, http_client=http), mode)
    async with proxy.serving(), recorded, http, taped_client as client:
        await use_everything(client, through)
    async with proxy.serving(), bare.client(proxy.upstream, mode) as client:
        await use_everything(client, bare)
    assert through == bare
    text = proxy.tape.read_text()
    assert not [word for word in ("s3cret", "k3y", "t0ken", "mcp-session-id") if word in text]
    assert taped(proxy.tape).complete
    assert await replayed(proxy.tape, mode) == through


async def test_each_session_has_its_tape(tmp_path: Path) -> None:
    proxy = Proxy(tmp_path)
    recorded = listening(proxy.command(proxy.upstream), proxy.port, tmp_path)
    one, two = Client(proxy.url, mode="legacy"), Client(proxy.url, mode="legacy")
    async with proxy.serving(), recorded, one, two:
        await asyncio.gather(one.list_tools(), two.list_prompts())
    files = proxy.tapes()
    assert [file.name for file in files] == ["a-2.tape.jsonl", "a.tape.jsonl"]
    methods = [{(frame.body or {}).get("method") for frame in taped(file).frames} for file in files]
    assert ["tools/list" in methods[1], "prompts/list" in methods[0]] == [True, True]
    assert "prompts/list" not in methods[1]


async def test_a_page_of_another_host_and_an_unreachable_server_are_refused(tmp_path: Path) -> None:
    proxy = Proxy(tmp_path)
    recorded = listening(proxy.command(proxy.upstream), proxy.port, tmp_path)
    async with recorded, httpx2.AsyncClient(timeout=30) as http:
        rebound = await http.post(proxy.url, headers={"Host": "evil.test"}, json={})
        page = await http.post(proxy.url, headers={"Origin": "https://evil.test"}, json={})
        nobody = await http.post(proxy.url, json={"jsonrpc": "2.0", "id": 5, "method": "ping"})
    assert [rebound.status_code, page.status_code, nobody.status_code] == [403, 403, 502]
    assert nobody.json()["id"] == 5
    assert "cannot be reached: ConnectError" in nobody.json()["error"]["message"]
