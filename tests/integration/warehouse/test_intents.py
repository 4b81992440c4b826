"""Intents: every live call is accounted for, whatever becomes of who made it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from passgrid.admission import Answer, Asked, Verdict
from passgrid.gate import ModelCall, Settlement, ToolCall
from passgrid.warehouse.claims import Claim
from passgrid.warehouse.control import Tuning, cancel, resume
from passgrid.warehouse.intents import Settled, exchange
from passgrid.warehouse.losses import reap
from passgrid.warehouse.provider_limits import configure
from tests.integration.runs import claimed, execute, finish, rows, submitted, value


@pytest.fixture
def claims(engine: sa.Engine, tmp_path: Path) -> list[Claim]:
    """Attempts that run as live ones do."""
    submitted(engine, tmp_path, scenarios=3, k=2)
    return live(claimed(engine))


def live(claims: list[Claim]) -> list[Claim]:
    from dataclasses import replace

    return [replace(one, live=True) for one in claims]


def call(claim: Claim, n: int = 0, usd: float | None = 0.02, provider: str | None = "openai:a") -> Asked:
    return Asked(claim.key, claim.fence, claim.run_id, n, ModelCall("openai:m", provider, 100, usd))


def ask(engine: sa.Engine, *asked: Asked, settled: list[Settled] | None = None) -> list[Verdict]:
    with engine.connect() as connection:
        return exchange(connection, settled or [], asked)


def settle(engine: sa.Engine, asked: Asked, **what: Any) -> None:
    values: dict[str, Any] = {"status": "ok", "cost_usd": 0.01, "cost_source": "prices", "tokens": 50, **what}
    ask(engine, settled=[Settled(asked, Settlement(**values))])


def granted(verdicts: list[Verdict]) -> int:
    return sum(verdict.answer is Answer.GRANTED for verdict in verdicts)


def test_an_intent_is_there_before_the_call_and_settled_after(engine: sa.Engine, claims: list[Claim]) -> None:
    asked = call(claims[0])
    assert granted(ask(engine, asked)) == 1
    assert rows(engine, "SELECT kind, reserved_usd, settled_at, status FROM intents") == [("model", 0.02, None, None)]
    settle(engine, asked)
    assert rows(engine, "SELECT status, cost_usd, cost_source, tokens FROM intents") == [("ok", 0.01, "prices", 50)]
    settle(engine, asked, cost_usd=5.0)
    assert value(engine, "SELECT cost_usd FROM intents") == 0.01, "settled once"
    assert value(engine, "SELECT spent_usd FROM runs") == 0.01


def test_a_writing_tool_leaves_its_arguments_and_a_reading_one_nothing(engine: sa.Engine, claims: list[Claim]) -> None:
    one = claims[0]
    calls = [
        Asked(one.key, one.fence, one.run_id, n, ToolCall("shop", "set\0price", {"price": "3\0"}, writes=writes))
        for n, writes in enumerate([True, False])
    ]
    assert granted(ask(engine, *calls)) == 2
    ((name, arguments),) = rows(engine, "SELECT name, arguments FROM intents")
    assert "\0" not in name + arguments
    assert arguments.startswith('{"price":')


def test_whoever_lost_the_claim_makes_no_call(engine: sa.Engine, claims: list[Claim]) -> None:
    execute(engine, "UPDATE attempts SET lease_until = '-infinity' WHERE key = :key", key=claims[0].key)
    with engine.connect() as connection:
        assert reap(connection) == 1
    (verdict,) = ask(engine, call(claims[0]))
    assert (verdict.answer, verdict.detail) == (Answer.STOP, "claim_lost")
    assert value(engine, "SELECT count(*) FROM intents") == 0


def test_a_cancelled_run_makes_no_call(engine: sa.Engine, claims: list[Claim]) -> None:
    cancel(engine, claims[0].run_id)
    (verdict,) = ask(engine, call(claims[0]))
    assert verdict.answer is Answer.STOP
    assert verdict.reason == "the run was cancelled"


def test_an_open_call_of_a_lost_worker_counts_as_spent(engine: sa.Engine, claims: list[Claim]) -> None:
    ask(engine, call(claims[0]), call(claims[0], 1))
    settle(engine, call(claims[0]))
    execute(engine, "UPDATE attempts SET lease_until = '-infinity' WHERE key = :key", key=claims[0].key)
    with engine.connect() as connection:
        reap(connection)
    assert rows(engine, "SELECT n, status FROM intents ORDER BY n") == [(0, "ok"), (1, "abandoned")]
    found = rows(
        engine, "SELECT model_calls, round(cost_usd::numeric, 4)::float8 FROM tries WHERE reason = 'worker_lost'"
    )
    assert found == [(2, 0.03)]
    assert rows(engine, "SELECT round(spent_usd::numeric, 4)::float8, reserved_usd FROM runs") == [(0.03, 0.0)]


def test_the_cost_of_a_try_is_unknown_where_one_of_its_calls_is(engine: sa.Engine, claims: list[Claim]) -> None:
    ask(engine, call(claims[0], usd=None))
    settle(engine, call(claims[0]), cost_usd=None, cost_source=None)
    finish(engine, claims[:1])
    assert rows(engine, "SELECT model_calls, cost_usd FROM tries WHERE reason = 'finished'") == [(1, None)]


def test_a_budget_is_never_exceeded_and_stops_the_run(engine: sa.Engine, claims: list[Claim]) -> None:
    run_id = claims[0].run_id
    resume(engine, run_id, Tuning(budget=0.05))
    verdicts = ask(engine, *(call(one) for one in claims))
    assert granted(verdicts) == 2, "0.02 each, 0.05 in all"
    assert {verdict.answer for verdict in verdicts[2:]} == {Answer.WAIT}
    for one in claims[:2]:
        settle(engine, call(one), cost_usd=0.02)
    assert {verdict.answer for verdict in ask(engine, *(call(one) for one in claims[2:]))} == {Answer.STOP}
    ((state, reason),) = rows(engine, "SELECT state, stop_reason FROM runs")
    assert (state, reason) == ("stopped", "budget: $0.0400 of $0.05 is spent")
    resume(engine, run_id, Tuning(budget=0.10))
    assert granted(ask(engine, call(claims[2]))) == 1


def test_slots_are_counted_over_all_workers_and_come_back_when_their_holder_dies(
    engine: sa.Engine, claims: list[Claim]
) -> None:
    configure(engine, {"openai": {"concurrency": 2}})
    assert granted(ask(engine, *(call(one) for one in claims[:3]))) == 2
    assert granted(ask(engine, call(claims[3]))) == 0, "another worker asks"
    settle(engine, call(claims[0]))
    assert granted(ask(engine, call(claims[3]))) == 1
    execute(engine, "UPDATE attempts SET lease_until = '-infinity' WHERE key = :key", key=claims[1].key)
    assert granted(ask(engine, call(claims[4]))) == 1


def test_limits_of_a_minute_hold_and_are_changed_at_once(engine: sa.Engine, claims: list[Claim]) -> None:
    configure(engine, {"openai": {"requests_per_minute": 2}})
    assert granted(ask(engine, *(call(one) for one in claims[:4]))) == 2
    configure(engine, {"openai": {"requests_per_minute": 3}})
    assert granted(ask(engine, *(call(one) for one in claims[2:4]))) == 1
    configure(engine, {"openai": {"tokens_per_minute": 350}})
    assert granted(ask(engine, call(claims[4]))) == 0, "three reserved 100 tokens each"
    execute(engine, "UPDATE intents SET started_at = started_at - interval '61 s'")
    assert granted(ask(engine, call(claims[4]))) == 1


def test_concurrency_rises_while_all_slots_are_taken_and_falls_at_a_refusal(
    engine: sa.Engine, claims: list[Claim]
) -> None:
    assert granted(ask(engine, *(call(one) for one in claims))) == 4
    ask(engine, settled=[Settled(call(one), Settlement("ok", 0.0, "prices", 1)) for one in claims[:4]])
    assert value(engine, "SELECT concurrency FROM providers") == 8
    assert granted(ask(engine, call(claims[4]), call(claims[5]))) == 2
    refused = Settlement("rate_limit", 0.0, "provider", 0, retry_after_s=0.3)
    ask(engine, settled=[Settled(call(one), refused) for one in claims[4:6]])
    assert rows(engine, "SELECT concurrency, limited_once FROM providers") == [(4, True)]
    assert ask(engine, call(claims[4], 1))[0].reason == "the provider asked to wait"
    time.sleep(0.35)
    assert granted(ask(engine, call(claims[4], 2))) == 1


def test_after_a_refused_key_one_request_at_a_time_is_made(engine: sa.Engine, claims: list[Claim]) -> None:
    ask(engine, call(claims[0]))
    settle(engine, call(claims[0]), status="authentication", cost_usd=0.0)
    others = [call(one) for one in claims[1:]]
    assert granted(ask(engine, *others)) == 0, "whether its arm is to be stopped is not known before it is written"
    finish(engine, claims[:1])
    assert granted(ask(engine, *others)) == 1


def test_five_identical_authentication_errors_stop_an_arm(engine: sa.Engine, tmp_path: Path) -> None:
    from dataclasses import replace

    from passgrid.outcome import Outcome, OutcomeKind
    from tests.integration.runs import result

    submitted(engine, tmp_path, scenarios=4, k=2)
    refused = replace(result(), outcome=Outcome(OutcomeKind.INFRA_ERROR, "authentication", "wrong key"))
    for _ in range(4):
        finish(engine, claimed(engine, most=1), refused)
    (running,) = live(claimed(engine, most=1))
    assert value(engine, "SELECT count(*) FROM attempts WHERE state = 'queued'") == 3
    finish(engine, claimed(engine, most=1), refused)
    assert value(engine, "SELECT count(*) FROM attempts WHERE state = 'queued'") == 0
    (verdict,) = ask(engine, call(running))
    assert verdict.answer is Answer.STOP
    assert "stopped after 5 identical authentication errors: wrong key" in verdict.reason
    assert "wrong key" in value(engine, "SELECT stop_reason FROM runs")


def test_nothing_stays_reserved_in_whatever_order_calls_are_settled(engine: sa.Engine, claims: list[Claim]) -> None:
    calls = [call(claims[0], n, usd) for n, usd in enumerate([0.1, 0.2, 0.3, 0.0007])]
    ask(engine, *calls)
    for one in calls:
        settle(engine, one)
    assert value(engine, "SELECT reserved_usd FROM runs") == 0.0
