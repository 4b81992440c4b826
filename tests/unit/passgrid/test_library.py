"""Suites on disk: every mistake at once, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.library import find_suite, load_prompt, load_suite
from passgrid.problems import InvalidInput
from tests.unit.passgrid.suites import write_suite


def problems(folder: Path) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        load_suite(folder)
    return [str(problem).replace(str(folder) + "/", "") for problem in caught.value.problems]


def test_a_suite_is_read_with_its_files(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "checks.py").write_text("x = 1\n")
    suite = load_suite(folder)
    assert [scenario.name for scenario in suite.scenarios] == ["count"]
    assert set(suite.files) == {"checks.py"}
    assert load_prompt(suite, None).text == "You answer."


def test_a_link_that_leads_out_of_the_suite_takes_nothing_along(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (tmp_path / "secret.txt").write_text("s3cret")
    (folder / "files").mkdir()
    (folder / "files" / "leak.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "files" / "own.txt").write_text("ours")
    (folder / "files" / "same.txt").symlink_to(folder / "files" / "own.txt")
    assert set(load_suite(folder).files) == {"files/own.txt", "files/same.txt"}


def test_yaml_that_does_not_parse_names_file_and_line(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "broken.yaml").write_text("task: x\nchecks: [\n")
    (found,) = problems(folder)
    assert found.startswith("broken.yaml:3:1: YAML does not parse")


def test_a_key_that_stands_twice_is_a_mistake(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "twice.yaml").write_text("task: x\ntags: [a]\ntask: y\n")
    (found,) = problems(folder)
    assert found == "twice.yaml:3:1: YAML does not parse: the key 'task' stands twice"


def test_three_mistakes_in_one_file_and_one_in_another_are_four_problems(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "bad.yaml").write_text("task: x\nlimits:\n  model_turns: 0\nchekcs: []\ntags: ['a b']\n")
    (folder / "other.yaml").write_text("turns: []\n")
    found = problems(folder)
    assert len(found) == 4
    assert "bad.yaml:3: limits.model_turns: Input should be greater than or equal to 1, got 0" in found
    assert "bad.yaml:4: chekcs: there is no such key" in found


def test_two_scenarios_of_one_name_name_both_files(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "other.yaml").write_text("name: count\ntask: x\n")
    (found,) = problems(folder)
    assert found.startswith("other.yaml: the scenario count is also in count.yaml")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("checks: [{python: 'missing.py:check'}]", "the suite has no missing.py"),
        ("workspace: {template: ../outside}", "leads outside"),
        ("checks: [{python: 'linked.py:check'}]", "linked.py lies outside the suite"),
    ],
)
def test_files_of_a_suite_exist_and_lie_inside_it(tmp_path: Path, line: str, message: str) -> None:
    folder = write_suite(tmp_path)
    (tmp_path / "outside.py").write_text("")
    (folder / "linked.py").symlink_to(tmp_path / "outside.py")
    (folder / "escape.yaml").write_text(f"task: x\n{line}\n")
    assert any(message in found for found in problems(folder))


def test_an_unknown_suite_names_those_of_the_library(tmp_path: Path) -> None:
    write_suite(tmp_path)
    with pytest.raises(InvalidInput, match="give a folder, or one of shop"):
        find_suite("shopp", tmp_path)
    assert find_suite("shop", tmp_path) == (tmp_path / "shop").resolve()


def test_an_unknown_prompt_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such prompt; there are: plain"):
        load_prompt(load_suite(write_suite(tmp_path)), "careful")


def test_only_one_newline_at_the_end_is_not_part_of_a_prompt(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (tmp_path / "prompts" / "odd.md").write_text("one\ntwo \n\n")
    assert load_prompt(load_suite(folder), "odd").text == "one\ntwo \n"
