import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack import sockets
from api.stack.errors import StackError
from api.stack.sockets import choose_socket_folder, claimed_socket_folder, create_socket_folder


@pytest.fixture(autouse=True)
def as_an_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_account() -> None:
        return None

    monkeypatch.setattr(sockets, "server_account", no_account)


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A private folder with a short path, wherever the tests' own folders lie."""
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:
        yield Path(folder)


def test_the_runtime_folder_comes_first_and_then_the_temporary_one(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets.tempfile, "gettempdir", lambda: "/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(short_folder))
    assert choose_socket_folder(Path("/home/x")).parent == short_folder
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert choose_socket_folder(Path("/home/x")).parent == Path("/tmp")


def test_each_home_has_its_own_short_name_however_long_its_path() -> None:
    one, other = choose_socket_folder(Path("/" + "long/" * 100)), choose_socket_folder(Path("/other"))
    assert one != other
    assert len(str(one)) < 50
    assert choose_socket_folder(Path("/other")) == other


@pytest.mark.parametrize("name", ["x" * 60, "with blank", "with,comma", "shared"])
def test_a_folder_that_is_too_long_or_unsafe_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    unfit = tmp_path / name
    unfit.mkdir()
    unfit.chmod(0o777 if name == "shared" else 0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(unfit))
    assert choose_socket_folder(Path("/home/x")).parent != unfit


def test_without_any_fit_folder_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "LONGEST_PATH", 20)
    with pytest.raises(StackError, match="TMPDIR"):
        choose_socket_folder(Path("/home/x"))


def test_everything_in_it_is_private_even_with_a_lax_umask(tmp_path: Path) -> None:
    folder, before = tmp_path / "sockets", os.umask(0)
    try:
        create_socket_folder(folder, None)
    finally:
        os.umask(before)
    for place in (folder, folder / "private", folder / "postgres"):
        assert place.stat().st_mode & 0o777 == 0o700


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "sockets").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StackError, match="not a folder of this user"):
        create_socket_folder(tmp_path / "sockets", None)


def test_only_one_stack_has_it_and_it_is_gone_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "sockets"
    create_socket_folder(folder, None)
    (folder / "private" / "stale.sock").touch()
    with claimed_socket_folder(folder, None):
        assert list((folder / "private").iterdir()) == []
        with pytest.raises(StackError, match="Another stack"), claimed_socket_folder(folder, None, timeout=0.05):
            pass
        assert folder.exists()
    assert not folder.exists()
