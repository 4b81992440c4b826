"""Folders of `passgrid export --format` are read as they are, and refused with every mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from passgrid.importers.export_rows import MANIFEST, ROWS, VERSION, AttemptRow
from passgrid.importers.passgrid_export import read_export
from passgrid.problems import InvalidInput
from tests.unit.passgrid.importers.exported_folder import attempt_row, write_export


def refused(folder: Path) -> str:
    with pytest.raises(InvalidInput) as raised:
        read_export(folder)
    return str(raised.value)


def test_attempts_come_by_arm_with_what_belongs_to_them(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "out", [attempt_row("a", 0), attempt_row("a", 1, outcome="infra_error")])
    (run,) = read_export(folder)
    (arm,) = run.arms
    assert [(one.sample, one.outcome.valid, one.attempt_id) for one in arm.attempts] == [
        (0, True, "a-0"),
        (1, False, "a-1"),
    ]
    assert (run.source, run.label, run.wanted, run.k) == ("passgrid", "nightly", 2, 2)


def test_a_folder_that_is_no_export_or_of_another_version_is_refused(tmp_path: Path) -> None:
    assert "is no export of Passgrid" in refused(tmp_path)
    (tmp_path / MANIFEST).write_bytes(orjson.dumps({"version": VERSION + 1, "kind": "jsonl"}))
    assert "import it with the Passgrid that made it" in refused(tmp_path)


def test_an_export_of_before_there_were_agents_is_the_same_run(tmp_path: Path) -> None:
    (now,) = read_export(write_export(tmp_path / "now", [attempt_row("a", 0)]))
    old = attempt_row("a", 0)
    del old["agent"]
    folder = write_export(tmp_path / "then", [old])
    (folder / MANIFEST).write_bytes(orjson.dumps({"format": "passgrid", "version": 1, "kind": "jsonl"}))
    (then,) = read_export(folder)
    assert then.run_id() == now.run_id()
    (other,) = read_export(write_export(tmp_path / "other", [attempt_row("a", 0, agent="shell")]))
    assert other.run_id() != now.run_id()
    assert other.arms[0].agent == "shell"


def test_every_wrong_row_is_named_by_file_and_number(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [attempt_row("a", 0), attempt_row("a", 1, outcome="won"), attempt_row("b", 0, extra=1)]
    folder = write_export(tmp_path / "out", rows)
    (folder / "checks.jsonl").write_text("{broken\n")
    said = refused(folder)
    assert f"{folder / 'attempts.jsonl'}, row 2: outcome" in said
    assert f"{folder / 'attempts.jsonl'}, row 3: extra" in said
    assert f"{folder / 'checks.jsonl'}, row 1: is no JSON" in said


def test_a_missing_table_and_rows_of_attempts_that_are_not_there_are_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "out", [attempt_row("a", 0)])
    (folder / "flags.jsonl").write_bytes(orjson.dumps({"run_id": "r", "attempt_id": "gone", "name": "x", "detail": ""}))
    assert "attempt gone is not in the export" in refused(folder)
    (folder / "flags.jsonl").unlink()
    assert "flags.jsonl: is missing" in refused(folder)


def test_a_parquet_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "out", [attempt_row("a", 0)], kind="parquet")
    for name in ROWS:
        (folder / f"{name}.parquet").write_bytes(b"PAR1")
    assert "attempts.parquet: is no Parquet file" in refused(folder)


def test_an_attempt_that_comes_twice_is_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "out", [attempt_row("a", 0), attempt_row("a", 0)])
    assert "two attempts of the sample shop/a, 0" in refused(folder)


def test_the_made_up_rows_have_every_column() -> None:
    assert set(attempt_row("a", 0)) == set(AttemptRow.model_fields)
