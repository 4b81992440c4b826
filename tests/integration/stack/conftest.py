import shutil
import subprocess
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.stack.home import Home
from api.stack.join import joined_stack, release
from tests.integration.stack.dummies import parts


@pytest.fixture(scope="session", autouse=True)
def bytecode() -> Iterator[None]:
    """Let supervisors keep compiled modules, even where that is turned off: compiling them takes most of a start."""
    with fast_folder() as folder, pytest.MonkeyPatch.context() as environment:
        environment.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        environment.setenv("PYTHONPYCACHEPREFIX", str(folder))
        yield


@pytest.fixture(scope="session")
def seed(bytecode: None) -> Iterator[Path]:
    """A database folder as the first start leaves it: initdb costs most of a second, a copy a tenth."""
    with fast_folder() as folder, pytest.MonkeyPatch.context() as environment:
        home = Home(folder / "home")
        _forget_the_users_stack(environment, home)
        with joined_stack(home, parts()):
            pass
        assert release(home)
        yield home.data


@pytest.fixture
def empty_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home that does not exist yet, in a path with a blank; whatever runs in it is ended afterwards."""
    with fast_folder() as folder:
        home = Home(folder / "my home")
        _forget_the_users_stack(monkeypatch, home)
        sockets = home.sockets
        yield home
        release(home)
        shutil.rmtree(sockets, ignore_errors=True)  # left where a test killed the supervisor


@contextmanager
def fast_folder() -> Generator[Path]:
    """A private folder in memory where there is enough of it: writing databases to a busy disk takes minutes."""
    memory = Path("/dev/shm")
    fits = memory.is_dir() and shutil.disk_usage(memory).free > 1_000_000_000
    with tempfile.TemporaryDirectory(prefix="passgrid-tests-", dir=memory if fits else None) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def home(empty_home: Home, seed: Path) -> Home:
    """A home whose database was used before."""
    empty_home.create()
    subprocess.run(["cp", "-a", seed, empty_home.data], check=True)
    return empty_home


def _forget_the_users_stack(environment: pytest.MonkeyPatch, home: Home) -> None:
    for name in ("DATABASE_URL", "BROKER_URL", "API_URL", "API_SOCKET"):
        environment.delenv(f"PASSGRID_{name}", raising=False)
    environment.setenv("PASSGRID_HOME", str(home.root))
