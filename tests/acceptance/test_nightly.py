"""A night from end to end: Celery beat fires it, a loopback model and a real server run it, it becomes the baseline."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml

from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.firings import Firing, firings_of
from tests.acceptance.commands import Installation
from tests.integration.openai_server import Provider, Reply, openai_server

MODEL = "openai-chat:gpt-4o-mini?max_tokens=50"
TIGHT = 0.001
QUESTION = ("convert_time", {"source_timezone": "Europe/London", "time": "12:00", "target_timezone": "Asia/Tokyo"})
SCENARIO = {
    "task": "What time is it in Tokyo when it is noon in London?",
    "mcpServers": {"time": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]}},
    "tools": ["convert_time"],
    "checks": [{"tool_called": {"tool": "convert_time"}}, {"final_text": {"equals": "done"}}],
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """Calls the tool once, then is done; a thousand tokens each time."""
    with openai_server(
        lambda text: Reply(tokens=(1000, 10), call=QUESTION if text == SCENARIO["task"] else None)
    ) as made:
        yield made


@pytest.fixture(scope="module")
def night(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A stack whose workers reach that provider."""
    made = Installation(tmp_path_factory.mktemp("nightly home") / "home", provider.environment())
    up = made.run("passgrid", "up")
    assert up.returncode == 0, up.stderr
    yield made
    made.run("passgrid", "down")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    suite = tmp_path_factory.mktemp("nightly suites") / "clock"
    suite.mkdir()
    (suite / "noon.yaml").write_text(yaml.safe_dump(SCENARIO))
    return suite


@pytest.fixture(scope="module")
def engine(night: Installation) -> Iterator[sa.Engine]:
    made = make_engine(night.json("passgrid", "status")["database"])
    yield made
    made.dispose()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ended(engine: sa.Engine) -> dict[str, Firing]:
    """The firings of both schedules, when they are over."""
    deadline = time.monotonic() + 90
    while True:
        with engine.connect() as connection:
            found = {one.schedule: one for one in firings_of(connection)}
        if len(found) == 2 and all(one.state != "running" for one in found.values()):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


@pytest.fixture(scope="module")
def baseline(night: Installation, suite: Path) -> str:
    """The label of recordings that were made before, by hand."""
    command = ("submit-matrix", "--suite", suite, "--model", MODEL, "-k", "2", "--mode", "live", "--record", "--wait")
    night.json(*command, "--label", "by-hand")
    (size,) = night.json("passgrid", "cassette", "list", suite)
    assert size["cassettes"] == 2
    return size["label"]


@pytest.fixture(scope="module")
def fired(night: Installation, suite: Path, baseline: str, engine: sa.Engine) -> dict[str, Firing]:
    """The firings of a slot a moment ago, by the beat of the stack: one of each schedule."""
    slot = datetime.now(UTC).replace(second=0, microsecond=0)
    cron = f"{slot.minute} {slot.hour} * * *"
    with engine.begin() as connection:
        # As if it had been there since yesterday: a schedule that is new waits for its next slot.
        connection.execute(
            sa.text("INSERT INTO schedules VALUES ('nightly', :slots, :since), ('tight', :slots, :since)"),
            {"slots": f"{cron} UTC", "since": slot - timedelta(seconds=1)},
        )
    matrix = {"suites": [str(suite)], "models": [MODEL], "k": 2, "mode": "live"}
    schedules = {
        "nightly": {
            "cron": cron,
            "matrix": matrix,
            "budget": 0.05,
            "drift": {"models": [f"recorded:{baseline}"], "k": 2},
        },
        "tight": {"cron": cron, "matrix": {**matrix, "k": 5}, "budget": TIGHT},
    }
    (night.home / "schedules.yaml").write_text(yaml.safe_dump({"schedules": schedules}))
    before = contents(suite / "cassettes" / baseline)
    firings = ended(engine)
    assert contents(suite / "cassettes" / baseline) == before, "the baseline stays as it is"
    return firings


def test_a_slot_is_fired_by_beat_under_a_label_of_its_own_and_recorded(
    night: Installation, suite: Path, baseline: str, fired: dict[str, Firing]
) -> None:
    firing = fired["nightly"]
    assert (firing.state, firing.detail, firing.recordings) == ("done", "", 2)
    assert firing.label == f"nightly-{firing.slot.astimezone(UTC).date().isoformat()}"
    labels = {size["label"]: size["cassettes"] for size in night.json("passgrid", "cassette", "list", suite)}
    assert {label: labels[label] for label in (baseline, f"{baseline}.{firing.label}")} == {
        baseline: 2,
        f"{baseline}.{firing.label}": 2,
    }
    model = f"recorded:{baseline}.{firing.label}"
    replayed = night.json("submit-matrix", "--suite", suite, "--model", model, "-k", "2", "--wait", "--label", "again")
    assert (replayed["valid"], replayed["passed"]) == (2, 2)


def test_its_budget_is_held(engine: sa.Engine, fired: dict[str, Firing]) -> None:
    """Five attempts of two turns each would cost more than the tight one has."""
    query = sa.text("SELECT spent_usd + reserved_usd AS spent, budget_usd, wanted FROM runs WHERE run_id = :run")
    with engine.connect() as connection:
        runs = {name: connection.execute(query, {"run": one.run_id}).one() for name, one in fired.items()}
    assert all(0 < run.spent <= run.budget_usd for run in runs.values()), runs
    assert (runs["tight"].budget_usd, runs["tight"].wanted) == (TIGHT, 5)
    assert fired["tight"].state == "done"
    assert fired["tight"].recordings < 5


def test_what_the_drift_page_shows_is_there(night: Installation, fired: dict[str, Firing]) -> None:
    import duckdb

    file = night.json("passgrid", "export")["file"]
    with duckdb.connect(file, read_only=True) as analysis:
        found = analysis.execute(
            "SELECT tool, sum(calls)::INT, sum(compared)::INT, bool_or(missing) FROM drift_tools "
            "JOIN attempts USING (attempt_key) WHERE run_id = ? GROUP BY 1",
            [fired["nightly"].drift_run_id],
        ).fetchall()
    assert found == [("convert_time", 2, 2, False)]


def test_its_recordings_become_the_baseline_after_a_diff(
    night: Installation, suite: Path, baseline: str, fired: dict[str, Firing]
) -> None:
    source = f"{baseline}.{fired['nightly'].label}"
    command = ("passgrid", "cassette", "promote", suite, "--from", source, "--to", baseline)
    before = contents(suite / "cassettes")
    refused = night.run(*command)
    assert refused.returncode == 1, "nobody answered the question"
    assert "same" in refused.stdout
    assert contents(suite / "cassettes") == before
    assert night.json(*command, "--yes")["written"] == 2


def test_schedules_are_listed(night: Installation, fired: dict[str, Firing]) -> None:
    rows: list[dict[str, Any]] = night.json("passgrid", "schedule", "list")
    assert {row["schedule"]: (row["last"]["label"], row["skipped"]) for row in rows} == {
        name: (one.label, 0) for name, one in fired.items()
    }
