"""Claims: one owner at a time, leases that end, and late results that are refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from passgrid.warehouse.claims import Claim, claim, of_cancelled_runs, renew
from passgrid.warehouse.control import Tuning, cancel, resume
from passgrid.warehouse.losses import (
    LONE_LOSSES_BEFORE_GIVING_UP,
    LOSSES_BEFORE_ALONE,
    LOSSES_BEFORE_GIVING_UP,
    give_up,
    hand_back,
    reap,
)
from passgrid.warehouse.trying_again import FailedTry, try_again
from tests.integration.runs import claimed, execute, finish, rows, submitted, value
from workers.leases import LeaseKeeper


def reaped(engine: sa.Engine) -> int:
    with engine.connect() as connection:
        return reap(connection)


def test_ten_workers_claim_every_attempt_once(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, scenarios=20, k=5)
    found: list[Claim] = []

    def work() -> None:
        while claims := claimed(engine, most=3):
            found.extend(claims)

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len({one.key for one in found}) == 100


def test_a_small_rest_is_shared(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, scenarios=4, k=5)
    sizes: list[int] = []
    with engine.connect() as connection:
        while claims := claim(connection, queue="replay", worker="w", most=16, lease_s=60, share=4):
            sizes.append(len(claims))
    assert sizes[0] == 5
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 20


def test_a_late_result_is_refused_and_the_second_try_wins(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    (paused,) = claimed(engine, lease_s=0.05)
    time.sleep(0.1)
    assert reaped(engine) == 1
    (second,) = claimed(engine, worker="other")
    assert finish(engine, [second]) == {second.key}
    assert finish(engine, [paused]) == set()
    assert value(engine, "SELECT count(*) FROM transcripts") == 1
    found = rows(engine, "SELECT fence, worker, reason FROM tries ORDER BY fence")
    assert found == [(1, "test", "worker_lost"), (2, "other", "finished")]


def test_a_result_comes_once_even_when_written_twice(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    claims = claimed(engine)
    assert finish(engine, claims) == {claims[0].key}
    assert finish(engine, claims) == set()


def test_a_renewed_lease_is_kept_and_a_lost_one_is_told(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    claims = claimed(engine, lease_s=0.2)
    with engine.connect() as connection:
        assert renew(connection, claims, 60) == {one.key for one in claims}
    time.sleep(0.3)
    assert reaped(engine) == 0
    with engine.connect() as connection:
        hand_back(connection, claims[:1], "shutdown")
        assert renew(connection, claims, 60) == {claims[1].key}
    found = rows(engine, "SELECT reason, detail FROM tries ORDER BY attempt_key")[0]
    assert found == ("handed_back", "shutdown")


def test_who_keeps_a_lease_is_told_that_its_run_was_cancelled(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=2)
    claims = claimed(engine)
    with engine.connect() as connection:
        assert of_cancelled_runs(connection, claims) == set()
    cancel(engine, claims[0].run_id)
    with engine.connect() as connection:
        assert of_cancelled_runs(connection, claims) == {one.key for one in claims}
        assert of_cancelled_runs(connection, []) == set()


def test_the_keeper_of_leases_tells_of_cancelled_runs(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    claims = claimed(engine)
    told, was_told = list[Claim](), threading.Event()

    def cancelled(of: Sequence[Claim]) -> None:
        told.extend(of)
        was_told.set()

    keeper = LeaseKeeper(engine, 0.3, cancelled)
    keeper.hold(claims)
    assert not was_told.wait(0.3)
    cancel(engine, claims[0].run_id)
    assert was_told.wait(5)
    keeper.release(claims)
    assert set(told) == set(claims)


def lose(engine: sa.Engine, *, alone: bool = False, worker: str = "test") -> int:
    """Claim what there is and die; returns how much that was."""
    claims = claimed(engine, lease_s=0.01, alone=alone, worker=worker)
    time.sleep(0.05)
    assert reaped(engine) == len(claims)
    return len(claims)


def test_after_two_losses_an_attempt_runs_alone_and_after_three_lone_ones_it_ends(
    engine: sa.Engine, tmp_path: Path
) -> None:
    submitted(engine, tmp_path, k=1)
    assert lose(engine) == 1
    assert lose(engine) == 1
    assert claimed(engine) == []
    for _ in range(LONE_LOSSES_BEFORE_GIVING_UP):
        assert lose(engine, alone=True) == 1
    assert claimed(engine, alone=True) == []
    (found,) = rows(engine, "SELECT state, outcome, outcome_detail, valid FROM attempts")
    assert found == ("done", "infra_error", "worker_lost", False)


def test_a_loss_shared_with_other_attempts_counts_for_none_of_them(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=3)
    for _ in range(LOSSES_BEFORE_ALONE):
        assert lose(engine) == 3
    assert rows(engine, "SELECT DISTINCT losses, lone_losses, alone, state FROM attempts") == [(2, 0, True, "queued")]
    for key in claimed(engine, alone=True):
        assert finish(engine, [key]) == {key.key}


def test_a_live_attempt_is_given_up_only_for_what_its_own_process_did(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    execute(engine, "UPDATE attempts SET queue = 'live', alone = true")
    for own in (False, False, False, True, True, True):
        with engine.connect() as connection:
            claims = claim(connection, queue="live", worker="w", most=1, lease_s=60, alone=True)
            give_up(connection, claims, its_own_doing=own)
        assert reaped(engine) == 1
    found = rows(engine, "SELECT state, outcome_detail, losses, lone_losses FROM attempts")
    assert found == [("done", "worker_lost", 6, 3)]


def test_a_run_completes_even_where_nobody_knows_who_is_at_fault(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    execute(engine, "UPDATE attempts SET queue = 'live', alone = true, losses = :n", n=LOSSES_BEFORE_GIVING_UP - 1)
    with engine.connect() as connection:
        claims = claim(connection, queue="live", worker="w", most=1, lease_s=60, alone=True)
        give_up(connection, claims, its_own_doing=False)
    assert reaped(engine) == 1
    assert value(engine, "SELECT outcome_detail FROM attempts") == "worker_lost"


def test_a_process_known_to_be_dead_is_reaped_at_once(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    claims = claimed(engine, lease_s=600)
    with engine.connect() as connection:
        give_up(connection, claims, its_own_doing=False)
    assert reaped(engine) == 1


def failed(engine: sa.Engine, claims: Sequence[Claim]) -> set[int]:
    with engine.connect() as connection:
        return try_again(connection, [FailedTry(one, "server_error: 503") for one in claims])


def test_a_failed_try_waits_longer_each_time_and_ends_with_the_tries(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1, max_tries=3)
    waits: list[float] = []
    for _ in range(2):
        (one,) = claimed(engine)
        assert failed(engine, [one]) == {one.key}
        assert claimed(engine) == []
        waits.append(value(engine, "SELECT extract(epoch FROM not_before - clock_timestamp())::float8 FROM attempts"))
        execute(engine, "UPDATE attempts SET not_before = NULL")
    assert 0.4 < waits[0] < 1.5
    assert 0.9 < waits[1] < 3.0
    (one,) = claimed(engine)
    assert failed(engine, [one]) == set()
    assert finish(engine, [one]) == {one.key}
    assert rows(engine, "SELECT reason, detail FROM tries ORDER BY fence") == [
        ("failed", "server_error: 503"),
        ("failed", "server_error: 503"),
        ("finished", ""),
    ]


def test_one_try_means_no_second_and_no_try_means_nothing_runs(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1, max_tries=1, label="one")
    (one,) = claimed(engine)
    assert failed(engine, [one]) == set()
    finish(engine, [one])
    held = submitted(engine, tmp_path, k=1, max_tries=0, label="none")
    assert claimed(engine) == []
    resume(engine, held.run_id, Tuning(max_tries=1))
    assert len(claimed(engine)) == 1
