"""Traces of real attempts, as a collector gets them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.broker import Hints
from api.run_tracing import RunTraces
from api.stack.addresses import Addresses
from passgrid.sealing import ReplayLeak, sealed
from passgrid.tracing.sending import send_the_rest
from passgrid.warehouse.progress import finish_runs
from passgrid.warehouse.results import Finished
from tests.integration.collector import Collector, collector
from tests.integration.runs import claimed, finish, result, submitted, value
from workers.tracing import trace_results


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collector() as made:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", made.endpoint)
        yield made
    send_the_rest()


def trace(engine: sa.Engine, most: int) -> None:
    claims = claimed(engine, most=most)
    outcome = result()
    finish(engine, claims, outcome)
    trace_results(engine, [Finished(one, outcome) for one in claims])


def test_a_run_is_one_tree_of_attempts_and_their_calls(engine: sa.Engine, tmp_path: Path, collected: Collector) -> None:
    run = submitted(engine, tmp_path, k=2, label="nightly").run_id
    trace(engine, most=2)
    traces = RunTraces()
    with engine.connect() as connection:
        assert finish_runs(connection) == [run]
        traces.look(connection)
        traces.look(connection)
    send_the_rest()
    (root,) = collected.named("run nightly")
    assert {span.trace for span in collected.spans} == {run}
    assert root.parent == ""
    attempts = collected.named("attempt count-0")
    assert len(attempts) == 2
    assert {span.parent for span in attempts} == {root.id}
    assert {span.attributes["passgrid.sample"] for span in attempts} == {0, 1}
    assert attempts[0].attributes["passgrid.outcome"] == "passed"
    assert attempts[0].attributes["passgrid.try"] == 1
    for attempt in attempts:
        below = [span for span in collected.spans if span.parent == attempt.id]
        assert sorted(span.name for span in below) == ["chat gpt", "chat gpt", "execute_tool count"]
        assert all(span.seconds <= attempt.seconds for span in below)
    assert collected.named("execute_tool")[0].attributes["gen_ai.tool.name"] == "count"
    assert {span.service for span in collected.spans} == {"passgrid"}


def test_spans_get_out_while_an_attempt_is_sealed(engine: sa.Engine, tmp_path: Path, collected: Collector) -> None:
    submitted(engine, tmp_path, k=1)
    trace(engine, most=1)
    with sealed():
        with pytest.raises(ReplayLeak):
            socket.create_connection(("127.0.0.1", 9))
        send_the_rest()
    assert len(collected.spans) == 4


def test_a_collector_that_is_away_delays_no_attempt_and_no_end(
    engine: sa.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        submitted(engine, tmp_path, k=3)
        trace(engine, most=1)  # with all imports
        begun = time.monotonic()
        trace(engine, most=2)
        assert time.monotonic() - begun < 1
        send_the_rest(seconds=0.5)
        assert time.monotonic() - begun < 2


def test_a_database_that_is_away_costs_a_warning(
    engine: sa.Engine, tmp_path: Path, collected: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    submitted(engine, tmp_path, k=1)
    finished = [Finished(one, result()) for one in claimed(engine)]
    away = sa.create_engine(f"postgresql+psycopg://passgrid@/passgrid?host={tmp_path}")
    trace_results(away, finished)
    assert "1 attempts are not traced" in caplog.text
    assert collected.spans == []


@pytest.mark.parametrize("recycled", [False, True])
def test_a_prefork_process_that_ends_loses_no_span(
    engine: sa.Engine, database_url: str, bare_stack: Addresses, tmp_path: Path, collected: Collector, recycled: bool
) -> None:
    """The children are asked to end, or replaced after one task, long before they would send of themselves."""
    run = submitted(engine, tmp_path, scenarios=2, k=5).run_id
    program = "import sys; from workers.app import app; from workers.host import main; "
    program += f"app.conf.worker_max_tasks_per_child = {1 if recycled else None}; main()"
    environment = {
        **os.environ,
        "PASSGRID_DATABASE_URL": database_url,
        "PASSGRID_BROKER_URL": bare_stack.broker_url,
        "PASSGRID_REPLAY_PROCESSES": "1",
        "OTEL_BSP_SCHEDULE_DELAY": "60000",
    }
    worker = subprocess.Popen([sys.executable, "-c", program, "replay"], env=environment, stderr=subprocess.PIPE)
    try:
        Hints(bare_stack.broker_url).send("replay", 1)
        deadline = time.monotonic() + 40
        while value(engine, "SELECT count(*) FROM attempts WHERE state <> 'done'") and time.monotonic() < deadline:
            time.sleep(0.1)
        while recycled and len(collected.spans) < 40 and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        if not recycled:
            worker.send_signal(signal.SIGTERM)
            worker.wait(20)
        worker.kill()
        worker.wait()
    assert len(collected.named("attempt")) == 10
    assert len(collected.spans) == 40
    assert {span.trace for span in collected.spans} == {run}
