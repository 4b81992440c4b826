"""What is measured is what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from api.http.metrics import metrics_text
from passgrid.warehouse.heartbeats import beat
from passgrid.warehouse.metrics import take_snapshot
from tests.integration.runs import claimed, finish, submitted


def samples(engine: sa.Engine) -> dict[str, float]:
    """Every sample by its name and labels, as Prometheus reads them."""
    text = metrics_text(take_snapshot(engine)).decode()
    return {
        sample.name + "".join(f" {name}={value}" for name, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def execute(engine: sa.Engine, statement: str, **parameters: Any) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text(statement), parameters)


def test_an_empty_database_has_nothing_to_show_and_no_invented_zeros(engine: sa.Engine) -> None:
    assert samples(engine) == {
        "passgrid_leases_expired": 0,
        "passgrid_attempts_cost_usd": 0,
        "passgrid_attempts_cost_unknown": 0,
    }


def test_attempts_are_counted_by_queue_state_and_outcome(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, scenarios=2, k=5)
    finish(engine, claimed(engine, most=4))
    claimed(engine, most=3)
    execute(engine, "UPDATE attempts SET lease_until = now() - interval '1 minute' WHERE state = 'running'")
    found = samples(engine)
    assert found["passgrid_attempts queue=replay state=done"] == 4
    assert found["passgrid_attempts queue=replay state=running"] == 3
    assert found["passgrid_attempts queue=replay state=queued"] == 3
    assert found["passgrid_attempts_done outcome=passed"] == 4
    assert found["passgrid_attempts_due queue=replay"] == 3
    assert 0 <= found["passgrid_oldest_due_seconds queue=replay"] < 60
    assert 0 <= found["passgrid_last_claim_seconds queue=replay"] < 60
    assert found["passgrid_leases_expired"] == 3
    assert found["passgrid_tries reason=finished"] == 4
    assert found["passgrid_tries reason=running"] == 3


def test_what_backs_off_is_not_due(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=3)
    execute(engine, "UPDATE attempts SET not_before = now() + interval '1 hour' WHERE sample > 0")
    assert samples(engine)["passgrid_attempts_due queue=replay"] == 1


def test_an_unknown_cost_is_counted_and_is_not_zero(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=3)
    finish(engine, claimed(engine))
    execute(engine, "UPDATE attempts SET cost_usd = CASE WHEN sample = 0 THEN 0.25 END")
    execute(engine, "UPDATE runs SET state = 'stopped', spent_usd = 0.25, reserved_usd = 0.5")
    found = samples(engine)
    assert found["passgrid_attempts_cost_usd"] == 0.25
    assert found["passgrid_attempts_cost_unknown"] == 2
    assert found["passgrid_spent_usd state=stopped"] == 0.25
    assert found["passgrid_reserved_usd state=stopped"] == 0.5
    assert found["passgrid_runs state=stopped"] == 1


def test_durations_fall_into_buckets_of_those_not_longer(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=4)
    finish(engine, claimed(engine))
    execute(engine, "UPDATE attempts SET duration_s = (ARRAY[0.5, 0.500001, 2, 5000])[sample + 1]")
    execute(engine, "UPDATE model_calls SET duration_ms = 100")
    found = samples(engine)
    bucket = "passgrid_recent_attempt_duration_seconds_bucket le={} queue=replay"
    counts = [found[bucket.format(bound)] for bound in ("0.25", "0.5", "1.0", "2.5", "1800.0", "+Inf")]
    assert counts == [0, 1, 2, 3, 3, 4]
    assert found["passgrid_recent_attempt_duration_seconds_count queue=replay"] == 4
    assert round(found["passgrid_recent_attempt_duration_seconds_sum queue=replay"], 3) == 5003.0
    calls = "passgrid_recent_model_call_duration_seconds_bucket answered=recorded le={}"
    assert [found[calls.format(bound)] for bound in ("0.025", "0.1", "+Inf")] == [0, 8, 8]


def test_attempts_of_long_ago_are_in_no_duration(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    finish(engine, claimed(engine))
    execute(engine, "UPDATE attempts SET finished_at = now() - interval '1 day'")
    assert not [name for name in samples(engine) if "duration" in name]


def test_calls_without_an_answer_are_open_or_lost(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    first, second = claimed(engine)
    execute(engine, "UPDATE attempts SET fence = 2 WHERE key = :key", key=second.key)
    for claim in (first, second):
        execute(
            engine,
            "INSERT INTO intents (attempt_key, fence, n, kind, name, provider) "
            "VALUES (:key, 1, 0, 'model', 'gpt', 'openai:default')",
            key=claim.key,
        )
    execute(
        engine,
        "INSERT INTO providers (key, concurrency, blocked_until) "
        "VALUES ('openai:default', 4.5, now() + interval '1 minute')",
    )
    found = samples(engine)
    assert found["passgrid_intents kind=model state=open"] == 1
    assert found["passgrid_intents kind=model state=lost"] == 1
    assert found["passgrid_provider_concurrency provider=openai:default"] == 4.5
    assert found["passgrid_provider_in_flight provider=openai:default"] == 1
    assert 50 < found["passgrid_provider_blocked_seconds provider=openai:default"] <= 60


def test_processes_that_beat_are_there_and_silent_ones_are_not(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        beat(connection, "scheduler")
        beat(connection, "replay")
    execute(engine, "UPDATE heartbeats SET at = now() - interval '1 minute' WHERE kind = 'replay'")
    found = samples(engine)
    assert found["passgrid_processes kind=scheduler"] == 1
    assert found["passgrid_processes kind=replay"] == 0
    assert found["passgrid_heartbeat_seconds kind=scheduler"] < 20
    assert found["passgrid_heartbeat_seconds kind=replay"] > 50
