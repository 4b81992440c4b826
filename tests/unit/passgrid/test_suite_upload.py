"""Uploaded suites laid out on disk."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from passgrid.library import load_prompt, load_suite
from passgrid.problems import InvalidInput, Problem
from passgrid.suite_upload import check_upload, folder_of_suites, without_folder

FILES = {"suite.yaml": b"prompt: plain\n", "count.yaml": b"task: How many?\n", "servers/stock.py": b"x = 1\n"}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "plain.md").write_text("You answer.\n")
    return tmp_path


def test_a_suite_is_laid_out_privately_and_gone_afterwards(library: Path) -> None:
    with folder_of_suites({"till": FILES}, library) as root:
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        suite = load_suite(root / "till")
        assert suite.name == "till"
        assert suite.files["servers/stock.py"] == b"x = 1\n"
        assert load_prompt(suite, None).text == "You answer."
    assert not root.exists()
    assert (library / "prompts" / "plain.md").exists(), "the library's prompts were only linked to"


@pytest.mark.parametrize("path", ["../../escaped", "/escaped", "a/../../b", "a\\b", ".hidden/x"])
def test_paths_are_checked_again_when_they_are_laid_out(library: Path, path: str) -> None:
    with pytest.raises(InvalidInput), folder_of_suites({"till": {path: b"x"}}, library):
        pass


def test_every_problem_of_paths_is_told(library: Path) -> None:
    with pytest.raises(InvalidInput) as found:
        check_upload("prompts", {"..": b"", "a": b"", "a/b": b""}, library)
    assert len(found.value.problems) == 3


def test_checking_an_upload_runs_none_of_it(library: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\n".encode()
    checks = b"task: x\nchecks: [{python: 'checks.py:f'}]\n"
    check_upload("till", {"count.yaml": checks, "checks.py": code, "policies.py": code}, library)
    assert not mark.exists()


def test_problems_name_the_authors_paths() -> None:
    found = without_folder([Problem("/tmp/x/till/a.yaml:3", "/tmp/x/till/b is missing")], Path("/tmp/x"))
    assert found == [Problem("till/a.yaml:3", "till/b is missing")]
