"""Starts one agent program, in a network of its own where that is wanted, and leaves nothing of it behind.

A file to be run by its path (`python -I -S launcher.py FD NETWORK FOLDERS`), not a module to be imported: it needs
nothing but the standard library, so that it starts fast. NETWORK is `own` or `shared`. In a network of its own, the
program finds nothing in the `hidden` folders of FOLDERS, a JSON object, and cannot change the `read_only` ones; it has
no capabilities, and can open no Unix sockets: those on the disk belong to no network, and lead out. FD is its end of a
Unix socket pair:

* it sends `{"port": n}` with a listening socket of the program's own loopback, or `{"refused": why}`;
* it gets one line of JSON: argv, env, cwd, and the paths of stdin, stdout and stderr are its own;
* it sends `{"started": pid}` or `{"unstartable": why}`, and at the end `{"exit": code}` or `{"signal": number}`.

When the other end is closed, by whatever, everything the program started is killed.
"""

import contextlib
import ctypes
import errno
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
_MS_BIND, _MS_REMOUNT = 0x1000, 0x20
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 22, 24, 38
_CAPABILITIES_VERSION, _SECCOMP_FILTER = 0x20080522, 2
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

_MACHINES = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}
"""By machine: how the kernel calls it, and its numbers of `socket` and `socketpair`."""
_IO_URING_SETUP, _X32_CALLS = 425, 0x40000000
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000
_AT_NUMBER, _AT_MACHINE, _AT_FIRST, _AT_SECOND = 0, 4, 16, 24
"""Where a filter finds a call's number, its machine, and its first and second argument."""
_AF_NETLINK = 16

_libc = ctypes.CDLL(None, use_errno=True)


def main(control: socket.socket, network: str, folders: "dict[str, list[str]]") -> None:
    """Everything in order; returns when nothing of the program is left."""
    control.set_inheritable(False)  # the program must not speak in our name
    try:
        if network == "own":
            _leave_network()
            _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
            _make_read_only(folders["read_only"])
            _hide(folders["hidden"])
        listener = socket.create_server(("127.0.0.1", OWN_PORT if network == "own" else 0), backlog=128)
        # Those it accepts have it too: a reply's second write does not wait for the first one's acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        _refuse(control, error)
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
        try:
            _give_up_rights()
            _forbid_unix_sockets()
        except OSError as error:
            _refuse(control, error)
            return
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
    """Put an empty folder over each: what is in it is no business of an agent's. Raises `OSError`."""
    for folder in folders:
        _mount("tmpfs", folder, "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_RDONLY)


def _make_read_only(folders: "list[str]") -> None:
    """What other attempts use as well must stay as it is. Raises `OSError`."""
    for folder in folders:
        _mount(folder, folder, None, _MS_BIND | _MS_REC)
        # What is forbidden of the mount it comes from cannot be allowed here, so it is asked for again.
        kept = os.statvfs(folder).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
        _mount("none", folder, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)


def _show_own_processes() -> None:
    """A /proc of these processes alone; where that is refused, as in many containers, the old one stays."""
    with contextlib.suppress(OSError):
        _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def _give_up_rights() -> None:
    """Nothing started from here on has a capability, or gets one: the mounts stay, also for root. Raises `OSError`."""
    # This process has them no longer either, but it has the socket to the worker: nobody is to take it out of here.
    _call("dumpable", _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    _call("no new privileges", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    if ctypes.get_errno() != errno.EINVAL:  # which says that there are no more of them
        raise OSError(ctypes.get_errno(), f"capabilities: {os.strerror(ctypes.get_errno())}")
    nothing = (ctypes.c_uint32 * 6)()
    _call("capset", _libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0), nothing))


def _forbid_unix_sockets() -> None:
    """Have the kernel refuse them from here on; pairs that are connected already may be made. Raises `OSError`."""
    lines = _socket_filter(os.uname().machine)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    program = ctypes.create_string_buffer(struct.pack("HP", len(lines), ctypes.addressof(code)))
    _call("seccomp", _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0))


def _socket_filter(machine: str) -> "list[tuple[int, int, int, int]]":
    """A classic BPF program: code, how many lines to skip where it holds, and where not, operand."""
    if machine not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no filter of system calls is known for {machine}")
    known_as, socket_call, pair_call = _MACHINES[machine]
    no, unknown = _FAIL | errno.EACCES, _FAIL | errno.ENOSYS
    sockets = [
        (_LOAD, 0, 0, _AT_FIRST),
        *(line for kind in (socket.AF_INET, socket.AF_INET6, _AF_NETLINK) for line in _returned(kind, _ALLOW)),
        (_RETURN, 0, 0, no),
    ]
    pairs = [
        (_LOAD, 0, 0, _AT_SECOND),
        (_AND, 0, 0, 0xF),
        # One of datagrams could still be pointed at another address.
        *(line for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET) for line in _returned(kind, _ALLOW)),
        (_RETURN, 0, 0, no),
    ]
    return [
        (_LOAD, 0, 0, _AT_MACHINE),
        (_IF_EQUAL, 1, 0, known_as),
        (_RETURN, 0, 0, _KILL),  # calls of another machine have other numbers
        (_LOAD, 0, 0, _AT_NUMBER),
        (_IF_AT_LEAST, 0, 1, _X32_CALLS),
        (_RETURN, 0, 0, unknown),
        *_returned(_IO_URING_SETUP, unknown),  # would open sockets without a call
        (_IF_EQUAL, 0, len(sockets), socket_call),
        *sockets,
        (_IF_EQUAL, 0, len(pairs), pair_call),
        *pairs,
        (_RETURN, 0, 0, _ALLOW),
    ]


def _returned(value: int, verdict: int) -> "list[tuple[int, int, int, int]]":
    return [(_IF_EQUAL, 0, 1, value), (_RETURN, 0, 0, verdict)]


def _call(what: str, result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _mount(source: str, place: str, kind: "str | None", flags: int) -> None:
    kind_bytes = kind.encode() if kind else None
    result = _libc.mount(os.fsencode(source), os.fsencode(place), kind_bytes, ctypes.c_ulong(flags), None)
    _call(f"mount over {place}", result)


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


def _refuse(control: socket.socket, error: OSError) -> None:
    _say(control, {"refused": f"{error.strerror or error} ({error.__class__.__name__})"})


def _say(control: socket.socket, what: "dict[str, Any]") -> None:
    with contextlib.suppress(OSError):  # nobody may be there to hear it
        control.sendall(_line(what))


def _line(what: "dict[str, Any]") -> bytes:
    return json.dumps(what).encode() + b"\n"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], json.loads(sys.argv[3]))
