"""What `passgrid import` says of results: lost attempts by name, and every mistake at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.importing_results import SHOWN, say_unread, unread_attempts
from api.cli.main import make_app
from passgrid.importers.xplainable import read_results
from passgrid.problems import InvalidInput
from tests.unit.passgrid.importers.xplainable_files import case, results


def test_every_lost_attempt_is_named_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps(results([case("telco[1]")], k=2)))
    (run,) = read_results([file], suite="shop").runs
    say_unread(list(unread_attempts(run, "id")))
    assert capsys.readouterr().out.splitlines() == [
        "  1 attempt does not count, wanted and not valid:",
        "    anthropic:claude-sonnet-4-6, default: shop/telco, sample 0: "
        "case telco[0] is not in the file: that tool drops a case whose task raised",
    ]


def test_many_lost_attempts_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps(results([case("telco[49]")], k=50)))
    (run,) = read_results([file]).runs
    say_unread(list(unread_attempts(run, "id")))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "49 attempts do not count, wanted and not valid:"
    assert lines[-1].strip() == "and 29 more (--json names them)"
    assert len(lines) == SHOWN + 2
    say_unread([])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("format", ["xplainable", "pydantic-evals"])
def test_files_that_cannot_be_read_are_refused_together_before_anything_is_started(tmp_path: Path, format: str) -> None:
    done = CliRunner().invoke(make_app(), ["import", format, str(tmp_path / "one.json"), str(tmp_path / "other.json")])
    assert isinstance(done.exception, InvalidInput)
    assert [problem.message for problem in done.exception.problems] == ["no such file", "no such file"]
