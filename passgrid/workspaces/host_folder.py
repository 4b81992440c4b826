"""The private folder of a host's workspaces: templates shared by its processes, and what each process has under way.

    templates/<hash>/       written once; locked, shared, by every process that uses it
    processes/<name>/       workspaces of one process, which holds the lock <name>.lock while it lives

What a process left behind that was killed is removed by the next one to start: its lock is free then.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import logging
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from passgrid.identity import content_hash
from passgrid.workspaces.overlay import mounts_below, unmount

log = logging.getLogger(__name__)

KEPT_DAYS = 7.0
"""Templates nobody used for so long are removed."""
GIT_SECONDS = 60
START = 1_767_225_600
"""2026-01-01: fixed times, names and dates make workspaces alike, so recordings of them compare."""

_GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Passgrid", "GIT_AUTHOR_EMAIL": "passgrid@localhost",
    "GIT_COMMITTER_NAME": "Passgrid", "GIT_COMMITTER_EMAIL": "passgrid@localhost",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip
_GIT_COMMANDS = (
    ("init", "--quiet", "--initial-branch=main"),
    ("config", "user.name", "Passgrid"),
    ("config", "user.email", "passgrid@localhost"),
    # The index is copied with the files: a copy is the same file, though its number and time of change differ.
    ("config", "core.trustctime", "false"),
    ("config", "core.checkStat", "minimal"),
    ("add", "--all"),
    ("commit", "--quiet", "--allow-empty", "--message=Start"),
)


class HostFolder:
    """One process's view of the folder. Threads may share it; a forked process makes its own."""

    def __init__(self, root: Path) -> None:
        """Raises `OSError` where there can be no private folder of that name."""
        self.root = _private(root)
        self._templates = _private(self.root / "templates")
        self._processes = _private(self.root / "processes")
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}
        self._sweep()
        self._own, self._own_lock = self._take_place()

    def new_folder(self) -> Path:
        """A new empty folder for one workspace."""
        return Path(tempfile.mkdtemp(prefix="passgrid-workspace-", dir=self._own))

    def template(self, files: Mapping[str, bytes], *, git: bool) -> Path:
        """The folder that holds a template; written when it is first asked for. Raises `OSError`, `ValueError`."""
        name = template_name(files, git=git)
        folder = self._templates / name
        with self._lock:
            if name not in self._held:
                self._held[name] = lock = _locked(folder.with_suffix(".lock"))
                if not folder.is_dir():
                    self._write(folder, files, git)
                fcntl.flock(lock, fcntl.LOCK_SH)
                os.utime(folder.with_suffix(".lock"))
        return folder

    def close(self) -> None:
        """Remove what this process has under way."""
        _remove(self._own)
        _unlink(self._own.with_suffix(".lock"))
        for number in (self._own_lock, *self._held.values()):
            os.close(number)
        self._held.clear()

    def _write(self, folder: Path, files: Mapping[str, bytes], git: bool) -> None:
        partial = Path(tempfile.mkdtemp(prefix="partial-", dir=self._templates))
        try:
            partial.chmod(0o755)
            write_files(partial, files)
            if git:
                _make_repository(partial)
            partial.rename(folder)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def _take_place(self) -> tuple[Path, int]:
        folder = self._processes / f"{os.getpid()}-{secrets.token_hex(4)}"
        lock = _locked(folder.with_suffix(".lock"))
        folder.mkdir(mode=0o700)
        return folder, lock

    def _sweep(self) -> None:
        """Remove what dead processes left, and templates nobody used for long."""
        for path in self._processes.glob("*.lock"):
            _remove_unlocked(path)
        before = time.time() - KEPT_DAYS * 86_400
        for path in self._templates.glob("*.lock"):
            if _modified(path) < before:
                _remove_unlocked(path)
        for path in self._templates.glob("partial-*"):
            if _modified(path) < time.time() - 3600:
                _remove(path)


def template_name(files: Mapping[str, bytes], *, git: bool) -> str:
    """What a template is called: decided by everything in it."""
    return _template_name(tuple(files.items()), git)


# Attempts share the bytes of their files, and Python keeps the hash of bytes: to find a name again costs little.
@functools.lru_cache(maxsize=4)
def _template_name(files: tuple[tuple[str, bytes], ...], git: bool) -> str:
    lines = [f"{path} {content_hash(data)}" for path, data in sorted(files)]
    return content_hash("\n".join(["git" if git else "plain", *lines]).encode(errors="surrogatepass"))[:40]


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder. Raises `ValueError` for a path that would leave it."""
    made = {folder}
    for path, data in files.items():
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\0" in path:
            raise ValueError(f"{path!r} leads out of the workspace")
        target = folder.joinpath(*parts)
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        target.write_bytes(data)
        os.utime(target, (START, START))


def _make_repository(folder: Path) -> None:
    environment = {**_GIT_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder)}
    for command in _GIT_COMMANDS:
        subprocess.run(
            ["git", *command], cwd=folder, env=environment, check=True, capture_output=True, timeout=GIT_SECONDS
        )


def _private(folder: Path) -> Path:
    """A folder of ours that nobody else may look into; made where there is none."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not a folder of this user's own")
    if facts.st_mode & 0o077:
        folder.chmod(0o700)
    return folder.resolve()


def _locked(path: Path) -> int:
    """Take a lock, waiting for it; the file of a lock may have been removed meanwhile, then a new one is made."""
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(number, fcntl.LOCK_EX)
        if _is_file(number, path):
            return number
        os.close(number)


def _is_file(number: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


def _remove_unlocked(lock: Path) -> None:
    """Remove a lock and the folder it stands for, unless somebody holds it."""
    try:
        number = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_file(number, lock):
            _remove(lock.with_suffix(""))
            _unlink(lock)
    except BlockingIOError:
        pass
    except OSError as error:
        log.warning("cannot remove %s: %s", lock.with_suffix(""), error)
    finally:
        os.close(number)


def _remove(folder: Path) -> None:
    for place in mounts_below(folder):
        unmount(place)
    remove_tree(folder)


def remove_tree(folder: Path) -> None:
    """Remove a folder, also one with folders in it that may not be read any more."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for root, _, _ in os.walk(folder, onerror=lambda error: _open_up(Path(error.filename))):
            _open_up(Path(root))
        shutil.rmtree(folder, ignore_errors=True)


def _open_up(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()
