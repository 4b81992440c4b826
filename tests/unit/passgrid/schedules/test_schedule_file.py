"""The schedule file: what it means, and every mistake in it with its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from passgrid.problems import InvalidInput
from passgrid.schedules.due import due_slots
from passgrid.schedules.schedule_file import Schedule, read_schedules, schedule_schema

NIGHTLY: dict[str, Any] = {
    "cron": "0 2 * * *",
    "timezone": "Europe/London",
    "matrix": {"suites": ["shop"], "models": ["openai:gpt-5?max_tokens=100"], "k": 3, "mode": "live"},
    "budget": 5.0,
    "label": "nightly-{date}",
    "missed": "catch_up",
    "drift": {"models": ["recorded:gpt-5"]},
}


def written(folder: Path, **schedules: Any) -> Path:
    path = folder / "schedules.yaml"
    path.write_text(yaml.safe_dump({"schedules": schedules}))
    return path


def test_a_firing_submits_its_matrix_and_one_in_the_mode_drift(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    schedule = read_schedules(written(tmp_path, nightly=NIGHTLY))["nightly"]
    label = schedule.label_of("nightly", datetime(2026, 5, 1, 1, 0, tzinfo=UTC))
    main, drift = schedule.requests(label)
    assert (main.label, main.mode, main.k, main.budget, main.record) == ("nightly-2026-05-01", "live", 3, 5.0, True)
    assert main.suites == (str(tmp_path / "shop"),), "folders are relative to the file"
    assert drift is not None
    assert (drift.label, drift.mode, drift.models, drift.record) == (
        "nightly-2026-05-01-drift", "drift", ("recorded:gpt-5",), False,
    )  # fmt: skip
    assert drift.suites == main.suites


def test_the_date_of_a_label_is_the_local_one() -> None:
    schedule = Schedule.model_validate({**NIGHTLY, "timezone": "Asia/Tokyo", "label": "{schedule}_{date}_{time}"})
    assert schedule.label_of("x", datetime(2026, 4, 30, 17, 0, tzinfo=UTC)) == "x_2026-05-01_0200"


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"cron": "0 25 * * *"}, "cron: hour '25'"),
        ({"timezone": "Europe/Lodon"}, "no such time zone"),
        ({"timezone": "../etc/passwd"}, "no such time zone"),
        ({"label": "nightly"}, "two slots would have one label"),
        ({"cron": "0 * * * *"}, "two slots would have one label"),
        ({"label": "a/{date}"}, "letters, digits, dots"),
        ({"label": "{day}"}, r"\{day\} stands for nothing"),
        ({"missed": "maybe"}, "missed: Input should be 'catch_up' or 'skip'"),
        ({"budget": -1}, "budget"),
        ({"matrix": {"suites": [], "models": ["x:y"]}}, "suites"),
        ({"matrix": {"suites": ["a"], "models": ["x:y"], "label": "z"}}, "matrix.label: there is no such key"),
        ({"matrix": {"suites": ["a"], "models": ["x:y"], "targets": ["a", "b"]}}, "recordings of several targets"),
        ({"matrix": {"suites": ["a"], "models": ["x:y"], "mode": "replay", "record": True}}, "nothing new to record"),
        ({"extra": 1}, "there is no such key"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, changes: dict[str, Any], place: str) -> None:
    path = written(tmp_path, nightly={**NIGHTLY, **changes})
    with pytest.raises(InvalidInput, match=place) as caught:
        read_schedules(path)
    assert all(str(path) in problem.place for problem in caught.value.problems)


def test_all_mistakes_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    path = written(tmp_path, a={**NIGHTLY, "cron": "x"}, b={**NIGHTLY, "timezone": "y", "missed": "z"})
    with pytest.raises(InvalidInput) as caught:
        read_schedules(path)
    assert len(caught.value.problems) == 3
    lines = path.read_text().splitlines()
    named = {lines[int(problem.place.rpartition(":")[2]) - 1].strip() for problem in caught.value.problems}
    assert named == {"cron: x", "timezone: y", "missed: z"}


def test_no_file_is_no_schedule_and_a_broken_one_is_said(tmp_path: Path) -> None:
    assert read_schedules(tmp_path / "schedules.yaml") == {}
    (tmp_path / "schedules.yaml").write_text("schedules: [")
    with pytest.raises(InvalidInput, match="YAML does not parse"):
        read_schedules(tmp_path / "schedules.yaml")


def test_the_published_schema_takes_what_we_take() -> None:
    jsonschema.validate({"schedules": {"nightly": NIGHTLY}}, schedule_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schedules": {"nightly": {**NIGHTLY, "extra": 1}}}, schedule_schema())


def test_a_slot_is_in_time_for_a_quarter_of_an_hour() -> None:
    schedule = Schedule.model_validate({**NIGHTLY, "missed": "skip"})
    slot = datetime(2026, 5, 1, 1, 0, tzinfo=UTC)
    for minutes, fired in ((0, True), (15, True), (16, False)):
        (due,) = due_slots(schedule, slot - timedelta(hours=1), slot + timedelta(minutes=minutes))
        assert (due.slot, due.skipped_because == "") == (slot, fired)
    assert list(due_slots(schedule, slot, slot + timedelta(hours=1))) == []
