"""Claims: one owner at a time, leases that end, and late results that are refused."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import sqlalchemy as sa

from passgrid.warehouse.claims import LOSSES_BEFORE_GIVING_UP, Claim, hand_back, reap, renew
from tests.integration.runs import claimed, finish, rows, submitted, value


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
    from passgrid.warehouse.claims import claim

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
    assert rows(engine, "SELECT reason FROM tries ORDER BY attempt_key")[0] == ("shutdown",)


def test_an_attempt_that_takes_three_workers_with_it_ends(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=1)
    for _ in range(LOSSES_BEFORE_GIVING_UP):
        assert len(claimed(engine, lease_s=0.01)) == 1
        time.sleep(0.05)
        reaped(engine)
    assert claimed(engine) == []
    (found,) = rows(engine, "SELECT state, outcome, outcome_detail, valid FROM attempts")
    assert found == ("done", "infra_error", "worker_lost", False)
