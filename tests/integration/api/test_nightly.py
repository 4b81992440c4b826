"""Schedules: exactly one firing for each slot, whatever happens to those who fire; missed slots; recordings."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import call
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from api.nightly.nightly import Nightly
from passgrid.matrix import Attempt
from passgrid.plan import Plan, make_plan
from passgrid.request import Request
from passgrid.schedules.cron import next_slots, slots
from passgrid.schedules.schedule_file import Schedule
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.firings import firings_of
from tests.integration.runs import claimed, execute, finish, plan, rows, value

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
A_YEAR = timedelta(days=365)


def schedule(root: Path, zone: str = "Europe/London", cron: str = "30 1 * * *", **changes: Any) -> Schedule:
    plan(root)  # writes the suite
    matrix = {"suites": [str(root / "shop")], "models": ["recorded:gpt"], "mode": "replay", **changes.pop("matrix", {})}
    return Schedule.model_validate({"cron": cron, "timezone": zone, "matrix": matrix, **changes})


class Killed(BaseException):
    """What a process that is killed does not get to see either."""


class _Dying(Plan):
    """A plan in the middle of whose writing its process dies."""

    def attempts(self) -> Iterator[Attempt]:
        yield from list(super().attempts())[:1]
        raise Killed


def quick_plans() -> Callable[[Request], Plan]:
    """Plans as `make_plan` makes them; the files are read once, as only the label differs from night to night."""
    first: list[Plan] = []

    def planned(request: Request) -> Plan:
        made = first[0] if first else make_plan(request)
        first[:] = [made]
        matrix = replace(made.matrix, label=request.label)
        return replace(made, request=request, matrix=matrix, run_id=matrix.run_id(made.cells))

    return planned


def dying(request: Request) -> Plan:
    made = make_plan(request)
    return _Dying(**{name: getattr(made, name) for name in Plan.__dataclass_fields__})


def test_a_year_of_nights_with_two_beats_and_restarts_has_one_firing_a_slot(
    database_url: str, engine: sa.Engine, tmp_path: Path
) -> None:
    """At 01:30 in London, left out once and twice there once, and at 02:30 in New York, which is left out once."""
    schedules = {
        "london": schedule(tmp_path, "Europe/London", "30 1 * * *"),
        "new-york": schedule(tmp_path, "America/New_York", "30 2 * * *"),
    }
    expected = {
        (name, slot) for name, one in schedules.items() for slot in slots(one.parsed, one.zone, START, START + A_YEAR)
    }
    assert len(expected) == 2 * 365
    quick = quick_plans()
    chance = random.Random(7)
    # Nothing is lost by it that a test would see.
    execute(engine, f"ALTER DATABASE {engine.url.database} SET synchronous_commit = off")
    engines = [make_engine(database_url, pool_size=1) for _ in range(2)]
    beats = [Nightly(one, quick) for one in engines]
    for beat in beats:
        beat.fire_due(schedules, START)
    killed = 0
    with ThreadPoolExecutor(2) as threads:
        for night, slot in enumerate(sorted({slot for _, slot in expected})):
            now = slot + timedelta(seconds=chance.uniform(0, 120))
            if night % 6 < 2:
                # Every third night, there being two slots in each.
                beats = [Nightly(one, quick) for one in engines]
            if night % 18 < 2:
                with pytest.raises(Killed):
                    Nightly(engines[0], dying).fire_due(schedules, now)
                killed += 1
            ticks = [partial(beat.fire_due, schedules, now) for beat in beats]
            list(threads.map(call, ticks) if night % 5 == 0 else map(call, reversed(ticks)))
    for one in engines:
        one.dispose()
    found = rows(engine, "SELECT schedule, slot, state, label, run_id FROM firings")
    assert {(row.schedule, row.slot) for row in found} == expected
    assert len(found) == len(expected)
    assert {row.state for row in found} <= {"running", "done"}
    assert value(engine, "SELECT count(*) FROM runs") == len({row.run_id for row in found}) == len(expected)
    assert value(engine, "SELECT count(*) FROM attempts") == len(expected)
    assert killed > 80
    labels = {row.label: row.slot.astimezone(ZoneInfo("UTC")).isoformat() for row in found}
    assert labels["london-2026-03-29"] == "2026-03-29T01:00:00+00:00", "01:30 is left out; clocks go on at 01:00 UTC"
    assert labels["london-2026-10-25"] == "2026-10-25T00:30:00+00:00", "01:30 comes twice; the first is BST"
    assert labels["new-york-2026-03-08"] == "2026-03-08T07:00:00+00:00"


def test_two_who_fire_one_slot_at_the_same_moment_fire_it_once(engine: sa.Engine, tmp_path: Path) -> None:
    schedules = {"one": schedule(tmp_path)}
    (slot,) = next_slots(schedules["one"].parsed, schedules["one"].zone, START, 1)
    beats = [Nightly(engine) for _ in range(4)]
    for beat in beats:
        beat.tick(schedules, START)
    barrier = threading.Barrier(4)

    def tick(beat: Nightly) -> None:
        barrier.wait()
        beat.tick(schedules, slot)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(tick, beats))
    assert rows(engine, "SELECT schedule, state FROM firings") == [("one", "running")]
    assert value(engine, "SELECT count(*) FROM attempts") == 1


@pytest.mark.parametrize(("missed", "states"), [("skip", ["skipped"] * 3), ("catch_up", ["running"] * 3)])
def test_missed_slots_are_reported_and_caught_up_or_skipped(
    engine: sa.Engine, tmp_path: Path, missed: str, states: list[str]
) -> None:
    schedules = {"one": schedule(tmp_path, missed=missed)}
    Nightly(engine).tick(schedules, START)
    Nightly(engine).tick(schedules, START + timedelta(days=3))
    with engine.connect() as connection:
        found = firings_of(connection)
    assert [one.state for one in found] == states
    assert [one.label for one in found] == ["one-2026-01-04", "one-2026-01-03", "one-2026-01-02"]
    assert all(one.detail.startswith("missed: ") == (missed == "skip") for one in found)


def test_of_very_many_missed_slots_only_the_newest_are_caught_up(engine: sa.Engine, tmp_path: Path) -> None:
    schedules = {"one": schedule(tmp_path, missed="catch_up")}
    Nightly(engine).tick(schedules, START)
    Nightly(engine).tick(schedules, START + timedelta(days=40))
    assert dict(rows(engine, "SELECT state, count(*) FROM firings GROUP BY 1")) == {"running": 31, "skipped": 9}


def test_a_new_schedule_and_a_changed_one_begin_now(engine: sa.Engine, tmp_path: Path) -> None:
    beat = Nightly(engine)
    later = START + timedelta(days=10)
    beat.tick({"one": schedule(tmp_path)}, START)
    beat.tick({"one": schedule(tmp_path, cron="0 * * * *", label="{schedule}-{date}-{time}")}, later)
    assert rows(engine, "SELECT 1 FROM firings") == []
    beat.tick(
        {"one": schedule(tmp_path, cron="0 * * * *", label="{schedule}-{date}-{time}")}, later + timedelta(hours=1)
    )
    assert rows(engine, "SELECT label FROM firings") == [("one-2026-01-11-1300",)]


def test_what_cannot_be_fired_is_reported_with_every_problem_and_the_next_slot_goes_on(
    engine: sa.Engine, tmp_path: Path
) -> None:
    good = schedule(tmp_path)
    bad = schedule(tmp_path, matrix={"models": ["recorded:nobody"], "k": 2})
    beat = Nightly(engine)
    beat.tick({"one": bad}, START)
    beat.tick({"one": bad}, datetime(2026, 1, 2, 1, 30, tzinfo=UTC))
    beat.tick({"one": good}, datetime(2026, 1, 3, 1, 30, tzinfo=UTC))
    found = rows(engine, "SELECT state, detail FROM firings ORDER BY slot")
    assert [row.state for row in found] == ["failed", "running"]
    assert "recorded:nobody: unknown in suite shop" in found[0].detail


def test_a_firing_by_hand_has_a_label_of_its_own_and_takes_no_slot(engine: sa.Engine, tmp_path: Path) -> None:
    schedules = {"one": schedule(tmp_path)}
    beat = Nightly(engine)
    beat.tick(schedules, START)
    slot = beat.run_now("one", schedules["one"], datetime(2026, 1, 2, 1, 29, 30, tzinfo=UTC))
    assert slot.label == "one-2026-01-02-now-012930"
    beat.tick(schedules, datetime(2026, 1, 2, 1, 30, tzinfo=UTC))
    assert [row.label for row in rows(engine, "SELECT label FROM firings ORDER BY slot")] == [
        slot.label,
        "one-2026-01-02",
    ]


def test_a_firing_ends_with_its_runs_whoever_looks(engine: sa.Engine, tmp_path: Path) -> None:
    schedules = {"one": schedule(tmp_path)}
    beat, other = Nightly(engine), Nightly(engine)
    beat.tick(schedules, START)
    at = datetime(2026, 1, 2, 1, 30, tzinfo=UTC)
    beat.tick(schedules, at)
    other.tick(schedules, at)
    assert value(engine, "SELECT state FROM firings") == "running"
    finish(engine, claimed(engine))
    execute(engine, "UPDATE runs SET state = 'done'")
    other.tick(schedules, at)
    assert rows(engine, "SELECT state, recordings, ended_at IS NOT NULL FROM firings") == [("done", 0, True)]


def test_recordings_that_cannot_be_written_are_tried_again_and_said(engine: sa.Engine, tmp_path: Path) -> None:
    schedules = {"one": schedule(tmp_path)}
    beat = Nightly(engine)
    beat.tick(schedules, START)
    at = datetime(2026, 1, 2, 1, 30, tzinfo=UTC)
    beat.tick(schedules, at)
    finish(engine, claimed(engine))
    execute(engine, "UPDATE runs SET state = 'done'")
    execute(engine, "UPDATE firings SET record = true")
    (tmp_path / "shop").rename(tmp_path / "elsewhere")
    beat.tick(schedules, at)
    assert "no such suite" in value(engine, "SELECT detail FROM firings")
    (tmp_path / "elsewhere").rename(tmp_path / "shop")
    beat.tick(schedules, at)
    assert value(engine, "SELECT state FROM firings") == "running"
    beat.tick(schedules, at + timedelta(minutes=6))
    assert rows(engine, "SELECT state, detail FROM firings") == [("done", "")]
