"""Which calls are let through: budgets that are never exceeded, limits that are never passed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from passgrid.admission import Answer, Asked, ProviderRoom, RunFunds, admit
from passgrid.gate import ModelCall, ToolCall


def asked(n: int = 0, *, run: str = "r", usd: float | None = 0.01, provider: str | None = None, key: int = 1) -> Asked:
    return Asked(key, 1, run, n, ModelCall("m", provider, 100, usd))


def room(**changes: Any) -> ProviderRoom:
    values: dict[str, Any] = {"blocked": False, "slots": 10, "requests": None, "tokens": None, **changes}
    return ProviderRoom(**values)


def answers(calls: list[Asked], **known: Any) -> list[str]:
    facts: dict[str, Any] = {"stopped": {}, "funds": {}, "rooms": {}, **known}
    verdicts, _ = admit(calls, facts["stopped"], facts["funds"], facts["rooms"])
    return [str(verdict.answer) for verdict in verdicts]


def test_a_stopped_attempt_makes_no_further_call() -> None:
    tool = Asked(1, 1, "r", 0, ToolCall("s", "t", {}, writes=True))
    assert answers([asked(), tool], stopped={1: ("", "the run was cancelled")}) == ["stop", "stop"]
    assert answers([tool]) == ["granted"]


def test_reservations_wait_for_each_other_before_a_budget_is_used_up() -> None:
    funds = {"r": RunFunds(1.0, 0.97, 0.0, allow_unpriced=False)}
    assert answers([asked(i, usd=0.02) for i in range(3)], funds=funds) == ["granted", "wait", "wait"]


def test_a_run_stops_when_the_next_request_might_exceed_its_budget() -> None:
    funds = {"r": RunFunds(1.0, 0.99, 0.0, allow_unpriced=False)}
    verdicts, empty = admit([asked(usd=0.02), asked(1, usd=0.001)], {}, funds, {})
    assert [verdict.answer for verdict in verdicts] == [Answer.STOP, Answer.STOP]
    assert empty == {"r"}
    assert "$0.9900 of $1 is spent" in verdicts[0].reason


def test_a_request_without_a_price_is_refused_under_a_budget_unless_allowed() -> None:
    assert answers([asked(usd=None)], funds={"r": RunFunds(1, 0, 0, allow_unpriced=False)}) == ["stop"]
    assert answers([asked(usd=None)], funds={"r": RunFunds(1, 0, 0, allow_unpriced=True)}) == ["granted"]
    assert answers([asked(usd=None)]) == ["granted"]


def test_slots_requests_and_tokens_of_a_provider_are_handed_out_once() -> None:
    calls = [asked(i, provider="p") for i in range(4)]
    assert answers(calls, rooms={"p": room(slots=2)}) == ["granted", "granted", "wait", "wait"]
    assert answers(calls, rooms={"p": room(requests=1)}) == ["granted", "wait", "wait", "wait"]
    assert answers(calls, rooms={"p": room(tokens=350)}) == ["granted", "granted", "granted", "wait"]
    assert answers(calls, rooms={"p": room(blocked=True)}) == ["wait"] * 4


@given(
    budget=st.floats(0.01, 10),
    spent=st.floats(0, 10),
    worst=st.lists(st.floats(0, 1), max_size=30),
    slots=st.integers(-2, 20),
)
def test_whatever_is_granted_fits_the_budget_and_the_slots(
    budget: float, spent: float, worst: list[float], slots: int
) -> None:
    calls = [asked(i, usd=usd, provider="p") for i, usd in enumerate(worst)]
    verdicts, _ = admit(calls, {}, {"r": RunFunds(budget, spent, 0.0, allow_unpriced=False)}, {"p": room(slots=slots)})
    granted = [usd for usd, verdict in zip(worst, verdicts, strict=True) if verdict.answer is Answer.GRANTED]
    assert len(granted) <= max(0, slots)
    assert not granted or spent + sum(granted) <= budget + 1e-6
