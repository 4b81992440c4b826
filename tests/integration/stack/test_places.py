import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from api.stack import binaries
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import joined_stack, release
from tests.integration.stack.dummies import parts
from tests.integration.stack.questions import JOIN, answers, pid_of, socket_folder, sql

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change users")
REPOSITORY = Path(__file__).parents[3]


@as_root
def test_below_a_folder_only_root_can_enter_postgres_runs_as_another_user(home: Home) -> None:
    private = home.root.parent
    assert private.stat().st_mode & 0o777 == 0o700
    with joined_stack(home, parts()) as addresses:
        assert Path(f"/proc/{pid_of(home, 'postgres')}").stat().st_uid != 0
        assert sql(addresses, "SHOW data_directory")[0][0].startswith("/proc/self/fd/")
        assert (home.data / "postmaster.pid").exists()
    assert private.stat().st_mode & 0o777 == 0o700


@as_root
def test_in_a_folder_everybody_can_enter_postgres_uses_the_plain_path(home: Home) -> None:
    home.root.parent.chmod(0o755)
    with joined_stack(home, parts()) as addresses:
        assert sql(addresses, "SHOW data_directory") == [(str(home.data),)]
        assert home.data.stat().st_mode & 0o777 == 0o700


@as_root
@pytest.mark.parametrize("mode", [0o700, 0o755], ids=["private home", "open home"])
def test_with_an_environment_only_root_can_enter_postgres_runs_a_copy(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    home.root.parent.chmod(mode)
    environment = tmp_path / "my environment"  # pytest's own temporary folder is 0700
    package = binaries.postgres_binaries().parents[1]
    shutil.copytree(package, environment / package.name, copy_function=os.link)
    libraries = package.with_name(package.name + ".libs")
    shutil.copytree(libraries, environment / libraries.name, copy_function=os.link)
    monkeypatch.setenv("PYTHONPATH", str(environment), prepend=os.pathsep)
    with joined_stack(home, parts()) as addresses:
        program = os.readlink(f"/proc/{pid_of(home, 'postgres')}/exe")
        place = home.programs if mode == 0o755 else socket_folder(home) / "programs"
        assert program.startswith(f"{place}/")
        assert answers(addresses)


@as_root
def test_other_users_cannot_connect(home: Home) -> None:
    stranger = 54321
    script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with joined_stack(home, parts()):
        sockets = socket_folder(home)
        for socket in (sockets / "postgres" / ".s.PGSQL.5432", sockets / "private" / "valkey.sock"):
            command = [_python_for_everybody(), "-c", script, socket]
            asked = subprocess.run(command, user=stranger, group=stranger, extra_groups=[], stderr=-1)
            assert b"PermissionError" in asked.stderr


@as_root
def test_an_ordinary_user_needs_no_other_account(unprivileged_home: Home) -> None:
    account = pwd.getpwnam("nobody")
    environment = {
        "PATH": os.environ["PATH"],
        "PASSGRID_HOME": str(unprivileged_home.root),
        "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *(entry for entry in sys.path if "site-packages" in entry)]),
    }
    user = subprocess.Popen(
        [_python_for_everybody(), "-c", JOIN],
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert user.stdout is not None
    line = user.stdout.readline()
    assert line, user.communicate()[1]
    postgres = Path(f"/proc/{pid_of(unprivileged_home, 'postgres')}")
    assert postgres.stat().st_uid == account.pw_uid
    user.communicate()


@pytest.fixture
def unprivileged_home() -> Iterator[Home]:
    account = pwd.getpwnam("nobody")
    folder = Path(tempfile.mkdtemp(prefix="passgrid-tests-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    os.chown(folder, account.pw_uid, account.pw_gid)
    home = Home(folder / "my home")
    yield home
    release(home)
    shutil.rmtree(folder)


def _python_for_everybody() -> str:
    """Return an interpreter of our version that other users may run: ours may well lie in root's home."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        with suppress(OSError):
            if subprocess.run([candidate, "-c", ""], user="nobody", stderr=-1, check=False).returncode == 0:
                return candidate
    pytest.skip(f"no {name} that user nobody may run")


def test_a_planted_socket_folder_is_refused(home: Home, tmp_path: Path) -> None:
    planted = home.sockets
    planted.symlink_to(tmp_path)
    try:
        with pytest.raises(StackError, match=planted.name), joined_stack(home, parts()):
            pass
    finally:
        planted.unlink()


def test_a_home_that_is_a_file_is_an_error_with_a_remedy(empty_home: Home) -> None:
    empty_home.root.write_text("")
    with pytest.raises(StackError, match="PASSGRID_HOME") as caught, joined_stack(empty_home, parts()):
        pass
    assert "Set PASSGRID_HOME" in caught.value.remedy


def test_who_has_another_runtime_folder_finds_the_same_stack(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with joined_stack(home, parts()) as first:
        monkeypatch.setenv("TMPDIR", str(home.root.parent))
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(home.root.parent))
        with joined_stack(home, parts()) as second:
            assert second == first
