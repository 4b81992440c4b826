"""Work that does not go on is found, with why; work that does is left in peace."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest
import sqlalchemy as sa

from passgrid.warehouse import stuck
from passgrid.warehouse.heartbeats import beat
from passgrid.warehouse.stuck import Stuck, standing_still, stuck_work
from tests.integration.runs import claimed, finish, submitted


class Execute(Protocol):
    def __call__(self, statement: str, **parameters: Any) -> None: ...


@pytest.fixture
def execute(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> Execute:
    monkeypatch.setattr(stuck, "CONFIRM_SECONDS", 0)

    def run(statement: str, **parameters: Any) -> None:
        with engine.begin() as connection:
            connection.execute(sa.text(statement), parameters)

    return run


def there(engine: sa.Engine, *kinds: str) -> None:
    with engine.connect() as connection:
        for kind in kinds:
            beat(connection, kind)


def the_one(found: list[Stuck]) -> Stuck:
    (one,) = found
    return one


OLD = "UPDATE runs SET created_at = now() - interval '10 minutes'"


def test_nothing_is_stuck_where_nothing_waits(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    assert stuck_work(engine) == []
    submitted(engine, tmp_path, k=2)
    finish(engine, claimed(engine))
    execute(OLD)
    assert stuck_work(engine) == []


def test_what_has_just_been_submitted_is_not_stuck(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    assert stuck_work(engine) == []


def test_a_scheduler_that_is_silent_while_work_waits(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=3)
    execute(OLD)
    there(engine, "scheduler", "replay")
    execute("UPDATE heartbeats SET at = now() - interval '90 seconds' WHERE kind = 'scheduler'")
    found = {one.subject: one for one in stuck_work(engine)}
    assert "3 attempts wait" in found["scheduler"].why
    assert "was last heard of 90 s ago" in found["scheduler"].why
    assert "api.scheduler" in found["scheduler"].remedy


def test_a_queue_without_a_worker(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    execute(OLD)
    there(engine, "scheduler", "live")
    found = the_one(stuck_work(engine))
    assert (found.subject, found.standstill) == ("queue replay", True)
    assert "2 attempts wait, the first for 600 s, and there is no replay worker" in found.why
    assert "workers.host replay" in found.remedy


def test_workers_that_are_up_and_consume_nothing(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    execute(OLD)
    there(engine, "scheduler", "replay")
    found = the_one(standing_still(engine))
    assert "1 replay worker processes are there, and none took anything for 30 s" in found.why


@pytest.mark.parametrize("done", [True, False])
def test_busy_workers_are_not_stuck_however_long_the_queue(
    engine: sa.Engine, tmp_path: Path, execute: Execute, done: bool
) -> None:
    submitted(engine, tmp_path, k=5)
    execute(OLD)
    there(engine, "scheduler", "replay")
    claims = claimed(engine, most=1)
    if done:
        finish(engine, claims)
    assert standing_still(engine) == []


def test_leases_that_nobody_reaps(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    claimed(engine)
    there(engine, "scheduler", "replay")
    execute("UPDATE attempts SET lease_until = now() - interval '5 minutes'")
    found = the_one(stuck_work(engine))
    assert found.subject == "leases"
    assert found.why.startswith("2 attempts lost their worker")


def test_what_backs_off_is_waited_for(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    execute(OLD)
    execute("UPDATE attempts SET not_before = now() + interval '1 minute'")
    assert stuck_work(engine) == []


def test_held_runs_say_how_to_go_on(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    paused = submitted(engine, tmp_path, k=2, label="paused").run_id
    stopped = submitted(engine, tmp_path, k=2, label="stopped").run_id
    execute("UPDATE attempts SET state = 'paused'")
    execute("UPDATE runs SET state = 'paused' WHERE run_id = :run", run=paused)
    execute(
        "UPDATE runs SET state = 'stopped', stop_reason = 'the budget is used up', budget_usd = 5, spent_usd = 4.9 "
        "WHERE run_id = :run",
        run=stopped,
    )
    found = {one.subject: one for one in stuck_work(engine)}
    assert not any(one.standstill for one in found.values())
    assert f"passgrid resume {paused[:12]}" in found[f"run {paused[:12]}"].remedy
    one = found[f"run {stopped[:12]}"]
    assert "the budget is used up ($4.90 spent and $0.00 reserved of $5.00)" in one.why
    assert "larger --budget" in one.remedy


def test_a_provider_that_wants_to_be_left_alone(engine: sa.Engine, execute: Execute) -> None:
    execute(
        "INSERT INTO providers (key, concurrency, blocked_until, auth_failures) VALUES "
        "('openai:default', 4, now() + interval '1 minute', 0), ('anthropic:default', 4, NULL, 4)"
    )
    refused, blocked = stuck_work(engine)
    assert (refused.subject, blocked.subject) == ("provider anthropic:default", "provider openai:default")
    assert "its key is not accepted" in refused.why
    assert "until 2" in blocked.why


def test_an_attempt_that_is_tried_again_and_again(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=1)
    (claim,) = claimed(engine)
    execute("UPDATE tries SET reason = 'failed', detail = 'overloaded', ended_at = now()")
    execute("UPDATE attempts SET state = 'queued', fence = 4, failures = 3, not_before = now() + interval '9 s'")
    found = the_one(stuck_work(engine))
    assert found.subject == f"attempt {claim.attempt_id[:12]}"
    assert found.why == "shop/count-0: tried 4 times (3 failed, 0 lost their worker); the last: failed overloaded"


def test_an_attempt_that_runs_beyond_its_limit(engine: sa.Engine, tmp_path: Path, execute: Execute) -> None:
    submitted(engine, tmp_path, k=2)
    claimed(engine, lease_s=600)
    execute("UPDATE attempts SET started_at = now() - interval '1 hour' WHERE sample = 0")
    found = the_one(stuck_work(engine))
    assert "runs for 3600 s, its limit is 600 s, on test" in found.why
