"""Limits of time: the wall clock's, and that of work, which waiting for a provider is not."""

from __future__ import annotations

import asyncio

import pytest

from passgrid.deadline import Deadline
from passgrid.meter import Meter
from passgrid.outcome import Outcome
from passgrid.scenario import Limits


async def spend(limits: Limits, *, waiting: float = 0.0, working: float = 0.0) -> Outcome | None:
    meter = Meter(limits)
    deadline = Deadline(limits, meter)
    try:
        async with deadline:
            with meter.waiting():
                await asyncio.sleep(waiting)
            await asyncio.sleep(working)
    except TimeoutError:
        assert deadline.passed
        return deadline.outcome()
    return None


async def test_within_its_limits_nothing_happens() -> None:
    assert await spend(Limits(seconds=5, working_seconds=5), waiting=0.05, working=0.05) is None


async def test_work_beyond_its_limit_ends_the_attempt() -> None:
    outcome = await spend(Limits(seconds=5, working_seconds=0.1), working=3)
    assert outcome is not None
    assert (outcome.name, outcome.reason) == ("limit(time)", "0.1 s of work are over")


async def test_waiting_for_a_provider_does_not_count_as_work() -> None:
    assert await spend(Limits(seconds=5, working_seconds=0.3), waiting=0.5, working=0.05) is None


async def test_a_wall_clock_limit_spent_waiting_says_nothing_about_the_agent() -> None:
    outcome = await spend(Limits(seconds=0.2), waiting=3)
    assert outcome is not None
    assert outcome.name == "infra_error(provider_wait)"
    assert not outcome.valid


async def test_a_wall_clock_limit_spent_working_is_the_agents() -> None:
    outcome = await spend(Limits(seconds=0.2), working=3)
    assert outcome is not None
    assert outcome.name == "limit(time)"
    assert outcome.valid


async def test_a_limit_that_is_not_set_is_none() -> None:
    assert await spend(Limits(seconds=None), working=0.05) is None


def test_ids_of_scenarios_without_the_new_limit_stay() -> None:
    from passgrid.scenario import Scenario

    facts = Scenario(name="a", task="b").trajectory_facts()
    assert "working_seconds" not in facts["limits"]
    limited = Scenario(name="a", task="b", limits=Limits(working_seconds=3)).trajectory_facts()
    assert limited["limits"]["working_seconds"] == pytest.approx(3)
