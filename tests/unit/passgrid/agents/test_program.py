"""A program leaves nothing behind, and in a network of its own it reaches nothing."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from passgrid.agents.program import LAUNCHER, Network, NoNamespace, Program, ProgramEnd, Unstartable, launched
from passgrid.sealing import ReplayLeak, sealed

ENVIRONMENT = {"PATH": os.environ["PATH"]}
LEAVES_PROCESSES = """
setsid sh -c 'sleep 7171' &
(setsid sh -c 'trap "" TERM HUP; sleep 7171; :' &)
nohup sleep 7171 >/dev/null 2>&1 &
"""


def left() -> list[str]:
    """Processes that were left behind."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().split(b"\0")
            if words[:2] == [b"sleep", b"7171"]:
                found.append(path.parent.name)
    return found


def done(*argv: str) -> subprocess.CompletedProcess[str]:
    """A program that ran."""
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task"
    path.write_text("the task")
    return path


async def ran(network: Network, task: Path, *argv: str) -> tuple[Program, ProgramEnd]:
    async with launched(network, task) as program:
        await program.start(argv, ENVIRONMENT, task.parent)
        end = await program.end()
    return program, end


@pytest.mark.parametrize("network", ["own", "shared"])
class TestInEitherNetwork:
    async def test_a_program_runs_in_its_folder_with_its_input_and_its_own_environment(
        self, network: Network, task: Path
    ) -> None:
        program, end = await ran(network, task, "sh", "-c", "cat; pwd; env; echo oops >&2; exit 7")
        assert (end, end.told(), end.well) == (ProgramEnd(7), "exited with 7", False)
        text = program.stdout.text()
        assert text.startswith(f"the task{task.parent}\n")
        assert "PASSGRID" not in text
        assert program.stderr.text() == "oops\n"

    async def test_nothing_it_started_outlives_it(self, network: Network, task: Path) -> None:
        await ran(network, task, "sh", "-c", LEAVES_PROCESSES)
        assert left() == []

    async def test_nothing_outlives_being_ended_in_the_middle(self, network: Network, task: Path) -> None:
        async with launched(network, task) as program:
            await program.start(["sh", "-c", f"{LEAVES_PROCESSES}\nsleep 7171"], ENVIRONMENT, task.parent)
            while len(left()) < 4:  # noqa: ASYNC110 - other processes have no event to wait for
                await asyncio.sleep(0.01)
        assert left() == []

    async def test_being_cancelled_leaves_nothing_either(self, network: Network, task: Path) -> None:
        running = asyncio.create_task(ran(network, task, "sh", "-c", f"{LEAVES_PROCESSES}\nsleep 7171"))
        while len(left()) < 4:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert left() == []

    async def test_what_is_no_program_is_told(self, network: Network, task: Path) -> None:
        with pytest.raises(Unstartable, match="no-such-program: No such file or directory"):
            await ran(network, task, "no-such-program")

    async def test_never_being_started_is_no_trouble(self, network: Network, task: Path) -> None:
        async with launched(network, task):
            pass

    async def test_the_worker_serves_inside(self, network: Network, task: Path) -> None:
        connect = "import socket,sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(9))"
        async with launched(network, task) as program:
            server = await asyncio.start_server(lambda _, writer: _greet(writer), sock=program.listener.dup())
            async with server:
                port = str(program.listener.getsockname()[1])
                await program.start([sys.executable, "-c", connect, port], ENVIRONMENT, task.parent)
                await program.end()
        assert program.stdout.text() == "b'hello'\n", program.stderr.text()


async def _greet(writer: asyncio.StreamWriter) -> None:
    writer.write(b"hello")
    await writer.drain()
    writer.close()


async def test_from_its_own_network_nothing_outside_is_reached(task: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0passgrid-test-of-namespaces")
        abstract.listen()
        probe = f"""
import socket
def reached(family, address):
    try:
        with socket.socket(family) as one:
            one.settimeout(3)
            one.connect(address)
            return "reached"
    except OSError as error: return type(error).__name__
print(reached(socket.AF_INET, ("127.0.0.1", {listener.getsockname()[1]})))
print(reached(socket.AF_INET, ("1.1.1.1", 443)))
print(reached(socket.AF_INET6, ("2606:4700:4700::1111", 443)))
print(reached(socket.AF_UNIX, "\\0passgrid-test-of-namespaces"))
"""
        there, _ = await ran("shared", task, sys.executable, "-c", probe)
        assert there.stdout.text().split()[0] == there.stdout.text().split()[3] == "reached"
        sealed_off, _ = await ran("own", task, sys.executable, "-c", probe)
    assert sealed_off.stdout.text().split() == [
        "ConnectionRefusedError",
        "OSError",
        "OSError",
        "PermissionError",
    ]


async def test_no_unix_socket_on_the_disk_is_reached_from_its_own_network(task: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as outside:
        outside.bind(str(tmp_path / "log"))
        outside.setblocking(False)
        probe = f"""
import ctypes, socket
def told(way):
    try: way()
    except OSError as error: return error.strerror.replace(" ", "-")
    return "fine"
def pair(kind):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    one.sendall(b"hi")
    assert other.recv(2) == b"hi"
    return one
print(told(lambda: socket.socket(socket.AF_UNIX)))
print(told(lambda: pair(socket.SOCK_DGRAM).sendto(b"out", {str(tmp_path / "log")!r})))
print(told(lambda: pair(socket.SOCK_STREAM)), told(lambda: pair(socket.SOCK_SEQPACKET)))
print(told(lambda: socket.socket(socket.AF_VSOCK)), told(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)))
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 1, ctypes.create_string_buffer(120)), ctypes.get_errno())
"""
        sealed_off, _ = await ran("own", task, sys.executable, "-c", probe)
        assert sealed_off.stdout.text().splitlines() == [
            "Permission-denied",
            "Permission-denied",
            "fine fine",
            "Permission-denied fine",
            f"-1 {errno.ENOSYS}",
        ], sealed_off.stderr.text()
        with pytest.raises(BlockingIOError):
            outside.recv(1)


async def test_in_its_own_network_it_has_no_capabilities_and_gets_none(task: Path) -> None:
    program, _ = await ran("own", task, "grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/self/status")
    said = dict(line.split(":\t") for line in program.stdout.text().splitlines())
    assert {said[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (said["NoNewPrivs"], said["Seccomp"]) == ("1", "2")


@pytest.mark.parametrize("enter", ["", "unshare --user --map-root-user --mount "])
async def test_what_is_hidden_stays_hidden(task: Path, tmp_path: Path, enter: str) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "secret").touch()
    async with launched("own", task, [folder]) as program:
        script = f"{enter}umount {folder}; {enter}umount -l {folder}; {enter}ls -A {folder}"
        await program.start(["sh", "-c", script], ENVIRONMENT, tmp_path)
        await program.end()
    assert program.stdout.text() == ""
    assert len(program.stderr.text().splitlines()) >= 2


async def test_what_is_read_only_for_it_cannot_be_changed(task: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "bin").mkdir(parents=True)
    (suite / "agent").write_text("as it was")
    script = f"""
cat {suite}/agent; echo x >{suite}/agent; rm {suite}/agent; touch {suite}/bin/sh; chmod 777 {suite}/agent
mount -o remount,rw,bind {suite}; umount {suite}; echo x >{suite}/agent; echo x >beside
"""
    async with launched("own", task, (), [suite]) as program:
        await program.start(["sh", "-c", script], ENVIRONMENT, tmp_path)
        assert (await program.end()).well
    assert program.stdout.text() == "as it was"
    assert program.stderr.text().count("Read-only file system") == 5
    assert (suite / "agent").read_text() == "as it was"
    assert os.listdir(suite / "bin") == []
    assert (tmp_path / "beside").read_text() == "x\n"


async def test_it_cannot_take_the_socket_of_its_launcher(task: Path) -> None:
    take = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
first = os.pidfd_open(os.getppid())
print([libc.syscall(438, first, number, 0) for number in range(3, 20)] == [-1] * 17, os.strerror(ctypes.get_errno()))
"""
    program, _ = await ran("own", task, sys.executable, "-c", take)
    assert program.stdout.text() == "True Operation not permitted\n", program.stderr.text()


async def test_sockets_on_the_disk_are_hidden_from_its_own_network(task: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    folder.mkdir()
    listing = ["ls", "-A", str(folder)]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "postgres"))
        networks: dict[Network, str] = {"shared": "postgres\n", "own": ""}
        for network, seen in networks.items():
            async with launched(network, task, [folder]) as program:
                await program.start(listing, ENVIRONMENT, tmp_path)
                assert (await program.end()).well
            assert program.stdout.text() == seen
        assert os.listdir(folder) == ["postgres"]


async def test_there_is_no_way_back_out_of_its_network(task: Path) -> None:
    # A mount of it is seen from within, as no process outside is; joining it takes a right that is not given.
    namespace = task.parent / "outside"
    namespace.touch()
    if done("mount", "--bind", "/proc/self/ns/net", str(namespace)).returncode != 0:
        pytest.skip("only root can show a namespace to another")
    try:
        program, end = await ran("own", task, "nsenter", f"--net={namespace}", "true")
    finally:
        done("umount", str(namespace))
    assert not end.well
    assert "Operation not permitted" in program.stderr.text()


@pytest.mark.parametrize("network", ["own", "shared"])
def test_a_killed_worker_takes_its_program_along(network: Network, task: Path) -> None:
    worker = f"""
import asyncio, pathlib, sys
from passgrid.agents.program import launched
async def main():
    async with launched(sys.argv[1], pathlib.Path({str(task)!r})) as program:
        await program.start(["sh", "-c", '''{LEAVES_PROCESSES}
sleep 7171'''], {ENVIRONMENT!r}, pathlib.Path("/"))
        print("started", flush=True)
        await program.end()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", worker, network], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        process.send_signal(signal.SIGKILL)
    until = time.monotonic() + 10
    while left() and time.monotonic() < until:
        time.sleep(0.02)
    assert left() == []


async def test_where_the_kernel_gives_no_network_it_is_said(task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(NoNamespace, match="darwin has no network namespaces"):
        await ran("own", task, "true")


def test_a_kernel_that_refuses_is_told_with_a_remedy(task: Path) -> None:
    worker = f"""
import asyncio, pathlib
from passgrid.agents.program import NoNamespace, launched
async def main():
    try:
        async with launched("own", pathlib.Path({str(task)!r})): print("granted")
    except NoNamespace as error: print(error)
asyncio.run(main())
"""
    forbid = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    ended = done("unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", sys.executable, "-c", worker)
    assert ended.stdout.startswith("unshare: No space left on device"), ended
    assert "user.max_user_namespaces" in ended.stdout


def test_a_machine_whose_calls_are_not_known_is_told_with_a_remedy(task: Path) -> None:
    worker = f"""
import asyncio, pathlib
from passgrid.agents import program
program.LAUNCHER = pathlib.Path({str(task)!r} + ".py")
text = pathlib.Path({str(LAUNCHER)!r}).read_text()
program.LAUNCHER.write_text(text.replace("os.uname().machine", "'vax'"))
async def main():
    try:
        async with program.launched("own", pathlib.Path({str(task)!r})): print("granted")
    except program.NoNamespace as error: print(error)
asyncio.run(main())
"""
    ended = done(sys.executable, "-c", worker)
    assert ended.stdout.startswith("no filter of system calls is known for vax (OSError); "), ended


async def test_in_a_replay_only_the_agent_may_be_started(task: Path) -> None:
    with sealed():
        _, end = await ran("own", task, "true")
        with pytest.raises(ReplayLeak):
            done("true")
    assert end.well
