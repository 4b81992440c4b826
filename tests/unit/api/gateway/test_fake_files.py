"""Files of fakes by the name their blocks are known under: no two of them share one."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.gateway.fake_files import named_files
from passgrid.fakes.load_errors import UnusableFakes


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders below this one, each with a file of the same name."""
    monkeypatch.chdir(tmp_path)
    made = (Path("one"), Path("other"))
    for folder in made:
        folder.mkdir()
        (folder / "shop.json").write_text("{}")
    return made


def test_files_of_one_name_are_known_by_their_paths(folders: tuple[Path, Path]) -> None:
    files = [folder / "shop.json" for folder in folders]
    assert named_files(files) == {"one/shop.json": files[0], "other/shop.json": files[1]}


def test_files_below_one_folder_are_known_by_their_paths_in_it(folders: tuple[Path, Path]) -> None:
    assert list(named_files([Path()])) == ["one/shop.json", "other/shop.json"]
    assert list(named_files(folders[:1])) == ["shop.json"]


def test_two_files_that_would_have_one_name_are_refused_with_both_paths(folders: tuple[Path, Path]) -> None:
    Path("shop.json").write_text("{}")
    for clashing in (folders, [folders[0], Path("shop.json")]):
        with pytest.raises(UnusableFakes) as refused:
            named_files(clashing)
        (mistake,) = refused.value.errors
        assert mistake.file == "shop.json"
        assert "one/shop.json" in mistake.message
        assert str(clashing[1]) in mistake.message


def test_a_file_that_is_named_twice_is_one_file(folders: tuple[Path, Path]) -> None:
    assert list(named_files([folders[0], folders[0], Path("other/shop.json"), Path("./other/shop.json")])) == [
        "shop.json",
        "other/shop.json",
    ]
