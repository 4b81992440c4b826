"""`passgrid validate` on files of fakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from passgrid.fakes_validation import check_fakes, holds_fakes
from tests.unit.passgrid.suites import write_suite

GOOD: dict[str, Any] = {
    "scope": "shared",
    "tools": [{"name": "t", "calls": [{"args": {}, "result": "x"}, {"anyArgs": True, "error": "y"}]}],
}
TURN = {"match": {"userMessage": "hello"}, "response": {"content": "hi"}}


def written(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_a_file_of_blocks_and_turns_is_counted(tmp_path: Path) -> None:
    file = written(tmp_path / "shop.json", {"mcpFakes": [GOOD, GOOD], "fixtures": [TURN]})
    checked = check_fakes(file)
    assert checked.counts == {"files": 1, "blocks": 2, "calls": 4, "fixtures": 1}
    assert (checked.problems, checked.warnings) == ((), ())


def test_every_mistake_of_every_file_is_named_with_its_rule(tmp_path: Path) -> None:
    bad_call = {"id": "c", "args": None, "anyArgs": True, "result": None}
    bad = {"scope": "shared", "undeclaredTools": "deny", "tools": [{"name": "t", "calls": [bad_call]}]}
    written(tmp_path / "a.json", {"mcpFakes": bad, "fixtures": [{"match": {"userMessage": 1}, "response": {}}]})
    written(tmp_path / "below" / "b.json", {"mcpFakes": {"tools": []}})
    (tmp_path / "below" / "c.json").write_text('{"mcpFakes": ')
    problems = [str(problem) for problem in check_fakes(tmp_path).problems]
    rules = {problem.rpartition(":")[2].rstrip(")") for problem in problems if "mcp-fakes/bad-block" in problem}
    assert rules == {"a", "c", "d", "g", "i"}
    assert any(f"{tmp_path}/a.json:c: " in problem for problem in problems)
    assert any("fixtures[0]" in problem for problem in problems)
    assert any("below/c.json: not a JSON document" in problem for problem in problems)


def test_a_call_in_the_shadow_of_another_is_a_warning(tmp_path: Path) -> None:
    calls: list[Any] = [{"anyArgs": True, "result": "x"}, {"args": {}, "result": "y"}]
    block: Any = {"scope": "shared", "tools": [{"name": "t", "calls": calls}]}
    checked = check_fakes(written(tmp_path / "a.json", {"mcpFakes": block}))
    assert checked.problems == ()
    assert len(checked.warnings) == 1
    assert "t#1" in checked.warnings[0]


def test_a_file_without_fakes_in_a_folder_of_them_is_a_mistake(tmp_path: Path) -> None:
    written(tmp_path / "a.json", {"mcpFakes": GOOD})
    written(tmp_path / "b.json", {"mcpfakes": GOOD})
    (problem,) = check_fakes(tmp_path).problems
    assert "b.json: has neither mcpFakes nor fixtures" in str(problem)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('{"mcpFakes": []}', True),
        ('{"fixtures": []}', True),
        ('{"mcpFakes": [', True),
        ('{"format": "x", "steps": []}', False),
        ("[", False),
    ],
)
def test_a_file_of_fakes_is_known_by_what_is_in_it(tmp_path: Path, text: str, is_one: bool) -> None:
    (tmp_path / "x.json").write_text(text)
    assert holds_fakes(tmp_path / "x.json") is is_one
    assert holds_fakes(tmp_path) is is_one


def test_suites_and_cassettes_are_no_fakes(tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    assert not holds_fakes(suite)
    assert not holds_fakes(suite / "cassettes/gpt/plain/count/0.json")
    assert not holds_fakes(tmp_path / "nothing")
