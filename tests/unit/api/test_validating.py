"""`passgrid validate` as a user sees it: what is printed where, and how it exits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.cli.validating import validate
from passgrid.problems import InvalidInput

SHADOWED: list[Any] = [{"anyArgs": True, "result": "x"}, {"args": {}, "result": "y"}]


def written(path: Path, **block: Any) -> Path:
    tools = [{"name": "t", "calls": SHADOWED}]
    path.write_text(json.dumps({"mcpFakes": {"scope": "shared", "tools": tools, **block}}))
    return path


def test_a_warning_goes_to_stderr_and_is_no_problem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    validate([written(tmp_path / "a.json")])
    said = capsys.readouterr()
    assert said.out == "1 files, 1 blocks, 2 calls, 0 fixtures: no problem\n"
    assert said.err.startswith("warning: ")
    assert "t#1" in said.err


def test_json_has_problems_with_their_rules_and_warnings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [written(tmp_path / "a.json"), written(tmp_path / "b.json", undeclaredTools="deny")]
    with pytest.raises(SystemExit) as exit_:
        validate(paths, json=True)
    assert exit_.value.code == 2
    said = json.loads(capsys.readouterr().out)
    assert [problem.rpartition(" ")[2] for problem in said["problems"]] == ["(mcp-fakes/bad-block:c)"]
    assert len(said["warnings"]) == 1
    assert (said["files"], said["blocks"]) == (2, 1)


def test_problems_of_all_paths_are_told_at_once(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{name}.json", colour=name) for name in ("a", "b")]
    with pytest.raises(InvalidInput) as error:
        validate(paths)
    assert [problem.place for problem in error.value.problems] == [str(path) for path in paths]
    assert error.value.exit_code == 2
