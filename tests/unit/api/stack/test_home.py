import os
from pathlib import Path

import pytest

from api.stack.errors import StackError
from api.stack.home import Home


def test_passgrid_home_decides(tmp_path: Path) -> None:
    assert Home.from_environment({"PASSGRID_HOME": str(tmp_path / "x")}).root == tmp_path / "x"


def test_it_is_absolute_and_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)
    assert Home.from_environment({"PASSGRID_HOME": "link"}).root == tmp_path / "real"


def test_by_default_it_lies_in_the_data_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Home.from_environment({"XDG_DATA_HOME": str(tmp_path / "data")}).root == tmp_path / "data" / "passgrid"
    default = tmp_path / ".local" / "share" / "passgrid"
    assert Home.from_environment({}).root == default
    assert Home.from_environment({"PASSGRID_HOME": "", "XDG_DATA_HOME": "relative"}).root == default


def test_creating_it_makes_private_folders_and_keeps_the_permissions_of_an_existing_home(tmp_path: Path) -> None:
    new, old = Home(tmp_path / "a" / "new"), Home(tmp_path / "old")
    old.root.mkdir()
    old.root.chmod(0o750)
    for home in (new, old):
        home.create()
        home.create()
        for folder in (home.logs, home.analysis, home.control):
            assert folder.stat().st_mode & 0o777 == 0o700
    assert old.root.stat().st_mode & 0o777 == 0o750
    assert new.root.stat().st_mode & 0o777 == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_home_that_cannot_be_created_is_an_error_with_its_path_and_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StackError) as caught:
        Home(tmp_path / "file" / "home").create()
    assert str(tmp_path / "file" / "home") in caught.value.problem
    assert "Set PASSGRID_HOME" in caught.value.remedy
