"""A folder on top of a template by an overlay mount: ready at once however large the template, and only what is written
takes space.

The attempt's servers are children of the worker and its checks run in it, so both see a mount of the worker's mount
namespace. A live worker has one of its own (`private_mounts`): what it mounted is gone with it, whatever ends it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

METHOD_VARIABLE = "PASSGRID_WORKSPACE"
"""`auto`; `copy` mounts nothing; `overlay` mounts small ones too, and as an ordinary user in a user namespace."""

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_REC, _MS_SLAVE = 2, 4, 0x4000, 0x80000
_MNT_DETACH = 2

# Never synchronised: the upper folder is removed after the attempt. A whole copy of what is written to, with its data.
_AS_ROOT = "redirect_dir=on,metacopy=off,index=off,volatile"
"""With redirects, folders of the template can be renamed as on any file system."""
_AS_USER = "userxattr,metacopy=off,index=off,volatile"
"""In a user namespace there are no redirects: renaming a folder of the template fails with EXDEV, as over devices."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """A mount over a template, and the folder that takes what is written."""

    folder: Path
    upper: Path


def mount_overlay(template: Path, base: Path, folder: Path) -> Overlay:
    """Mount at `folder`, an empty one. `base`, another one, takes what is written. Raises `OSError`."""
    upper, work = base / "upper", base / "work"
    upper.mkdir(mode=template.stat().st_mode & 0o777)
    work.mkdir(mode=0o700)
    errors: list[int] = []
    with _named(template) as lower, _named(upper) as up, _named(work) as beside:
        for options in (_AS_ROOT, _AS_USER) if os.geteuid() == 0 else (_AS_USER,):
            data = f"lowerdir={lower},upperdir={up},workdir={beside},{options}"
            if _mount("overlay", folder, "overlay", _MS_NOSUID | _MS_NODEV, data) == 0:
                return Overlay(folder, upper)
            errors.append(ctypes.get_errno())
    raise OSError(errors[0], f"cannot mount an overlay: {os.strerror(errors[0])}", str(folder))


def unmount(folder: Path) -> None:
    """Take a mount away at once, also while something still uses it. Nothing happens where there is none."""
    if _libc.umount2(os.fsencode(folder), _MNT_DETACH) != 0 and ctypes.get_errno() not in (errno.EINVAL, errno.ENOENT):
        number = ctypes.get_errno()
        raise OSError(number, f"cannot unmount: {os.strerror(number)}", str(folder))


def mounts_below(folder: Path) -> list[Path]:
    """Where something is mounted below a folder, the innermost first."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    places = [os.fsdecode(_plain(line.split()[4])) for line in lines]
    return [Path(place) for place in reversed(places) if place.startswith(f"{folder}/")]


def private_mounts(*, as_user: bool = False) -> bool:
    """Give this process a mount namespace of its own, which its children share. Call it before any thread is started.

    as_user: where that is refused, try it inside a user namespace, in which programs that change their user (sudo)
        no longer can.
    Returns whether it was done.
    """
    if not sys.platform.startswith("linux"):
        return False
    if os.geteuid() != 0 and not (as_user and _child_can_enter()):
        return False
    try:
        _enter()
    except OSError:
        return False
    return True


def _enter() -> None:
    """As root into a mount namespace, as anybody else into a user namespace with one. Raises `OSError`."""
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(_CLONE_NEWNS if user == 0 else _CLONE_NEWUSER | _CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare failed")
    if user != 0:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    # Mounts of the machine still appear here, ours do not appear there.
    if _mount("none", Path("/"), "", _MS_REC | _MS_SLAVE, "") != 0:
        raise OSError(ctypes.get_errno(), "mount failed")


def _child_can_enter() -> bool:
    """Tried in a child first: there is no way back out of a user namespace in which nothing is allowed."""
    child = os.fork()
    if child == 0:
        try:
            _enter()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _mount(source: str, target: Path, kind: str, flags: int, data: str) -> int:
    return _libc.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode())


@contextmanager
def _named(folder: Path) -> Generator[str]:
    """A short name of a folder without characters that options of a mount would be split at."""
    number = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{number}"
    finally:
        os.close(number)


def _plain(escaped: bytes) -> bytes:
    """A path of mountinfo, where blanks and the like are written as octal numbers."""
    return escaped.decode("unicode_escape").encode("latin-1") if b"\\" in escaped else escaped


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
