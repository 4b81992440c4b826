"""Starts one agent program, in a network of its own where that is wanted, and leaves nothing of it behind.

A file to be run by its path (`python -I -S launcher.py FD NETWORK FOLDER…`), not a module to be imported: it needs
nothing but the standard library, so that it starts fast. NETWORK is `own` or `shared`; in a network of its own, the
program finds nothing in each FOLDER. FD is its end of a Unix socket pair:

* it sends `{"port": n}` with a listening socket of the program's own loopback, or `{"refused": why}`;
* it gets one line of JSON: argv, env, cwd, and the paths of stdin, stdout and stderr are its own;
* it sends `{"started": pid}` or `{"unstartable": why}`, and at the end `{"exit": code}` or `{"signal": number}`.

When the other end is closed, by whatever, everything the program started is killed.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
from typing import Any

OWN_PORT = 7300
"""In a network of its own nobody else can have it: the same in every replay."""

_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET, _CLONE_NEWNS = 0x10000000, 0x20000000, 0x40000000, 0x00020000
_MS_REC, _MS_PRIVATE, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_RDONLY = 0x4000, 0x40000, 2, 4, 8, 1
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)


def main(control: socket.socket, network: str, hidden: "list[str]") -> None:
    """Everything in order; returns when nothing of the program is left."""
    control.set_inheritable(False)  # the program must not speak in our name
    try:
        if network == "own":
            _leave_network()
            _hide(hidden)
        listener = socket.create_server(("127.0.0.1", OWN_PORT if network == "own" else 0), backlog=128)
        # Those it accepts have it too: a reply's second write does not wait for the first one's acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        _say(control, {"refused": f"{error.strerror or error} ({error.__class__.__name__})"})
        return
    if network == "own" and (child := os.fork()):
        # The namespace of processes holds for children: the first of them is its init, and ends it by ending.
        listener.close()
        control.close()
        os.waitpid(child, 0)
        return
    if network == "own":
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _show_own_processes()
    elif sys.platform.startswith("linux"):
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    socket.send_fds(control, [_line({"port": listener.getsockname()[1]})], [listener.fileno()])
    listener.close()
    if order := _order(control):
        _supervise(control, order)


def _leave_network() -> None:
    """Into namespaces with a loopback and nothing else. Raises `OSError` where the kernel refuses."""
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWPID | _CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), f"unshare: {os.strerror(ctypes.get_errno())}")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _hide(folders: "list[str]") -> None:
    """Put an empty folder over each: sockets in it would lead out. Raises `OSError`."""
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    for folder in folders:
        _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_RDONLY)


def _show_own_processes() -> None:
    """A /proc of these processes alone; where that is refused, as in many containers, the old one stays."""
    with contextlib.suppress(OSError):
        _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def _mount(source: str, place: str, kind: "str | None", flags: int) -> None:
    kind_bytes = kind.encode() if kind else None
    if _libc.mount(source.encode(), os.fsencode(place), kind_bytes, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), f"mount over {place}: {os.strerror(ctypes.get_errno())}")


def _order(control: socket.socket) -> "dict[str, Any] | None":
    """What to start; None where the other end was closed before it said so."""
    data = b""
    while not data.endswith(b"\n"):
        part = control.recv(65536)
        if not part:
            return None
        data += part
    return json.loads(data)


def _supervise(control: socket.socket, order: "dict[str, Any]") -> None:
    """Start the program, wait for its end or for being told to end it, and kill whatever is left."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _noted)
    program = _start(control, order)
    while program:
        ready, _, _ = select.select([control, woken], [], [])
        if control in ready:
            break
        os.read(woken, 512)
        if (status := _reaped(program)) is not None:
            code = os.waitstatus_to_exitcode(status)
            _say(control, {"exit": code} if code >= 0 else {"signal": -code})
            break
    _end_all()


def _noted(number: int, frame: object) -> None:
    """That it came is enough: it wakes the one who waits."""


def _start(control: socket.socket, order: "dict[str, Any]") -> int:
    """The pid of the program; 0 where it cannot be started."""
    failed, fail = os.pipe()
    program = os.fork()
    if program == 0:
        _become(order, fail)
    os.close(fail)
    with os.fdopen(failed, "rb") as said:
        why = said.read()
    if why:
        os.waitpid(program, 0)
        _say(control, {"unstartable": why.decode(errors="replace")})
        return 0
    _say(control, {"started": program})
    for stream in (0, 1, 2):
        os.close(stream)
    return program


def _become(order: "dict[str, Any]", fail: int) -> None:
    """In the child: turn into the program."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if sys.platform.startswith("linux"):
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(fail, (error.strerror or str(error)).encode())
    except ValueError as error:
        os.write(fail, str(error).encode())
    finally:
        os._exit(127)


def _reaped(program: int) -> "int | None":
    """Reap whatever has ended; the program's status where it is among that."""
    found = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        if pid == program:
            found = status


def _end_all() -> None:
    """Kill every descendant: each whose parent dies becomes a child of this process, until there are none."""
    while pids := _children():
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                continue


def _children() -> "list[int]":
    """Those of this process. In a namespace with an old /proc there is no such list: the end of init ends them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _say(control: socket.socket, what: "dict[str, Any]") -> None:
    with contextlib.suppress(OSError):  # nobody may be there to hear it
        control.sendall(_line(what))


def _line(what: "dict[str, Any]") -> bytes:
    return json.dumps(what).encode() + b"\n"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:])
