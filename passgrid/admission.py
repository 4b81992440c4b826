"""Which calls may be made now: a pure decision over what is known of attempts, runs and providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from passgrid.gate import ModelCall, ToolCall

CENT_FRACTION = 1e-9
"""US dollars that rounding may add up to."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call somebody wants to make."""

    key: int
    """The attempt's."""
    fence: int
    run_id: str
    n: int
    """Position among the calls of its try."""
    call: ModelCall | ToolCall


class Answer(StrEnum):
    """What becomes of a call that was asked for."""

    GRANTED = "granted"
    WAIT = "wait"
    """Ask again."""
    STOP = "stop"
    """Neither this call nor any later one of its attempt."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, and why."""

    answer: Answer
    detail: str = ""
    reason: str = ""


GRANTED = Verdict(Answer.GRANTED)


@dataclass(frozen=True, slots=True)
class RunFunds:
    """A run that has a budget."""

    budget_usd: float
    spent_usd: float
    reserved_usd: float
    """Of calls under way."""
    allow_unpriced: bool


@dataclass(frozen=True, slots=True)
class ProviderRoom:
    """What one account of a provider has room for at this moment."""

    blocked: bool
    slots: int
    requests: int | None
    """None: no limit."""
    tokens: int | None


def admit(
    asked: Sequence[Asked],
    stopped: Mapping[int, tuple[str, str]],
    funds: Mapping[str, RunFunds],
    rooms: Mapping[str, ProviderRoom],
) -> tuple[list[Verdict], set[str]]:
    """Decide about calls in the order given.

    Args:
        asked: the calls.
        stopped: attempts that may make no further call, by key: a word and the reason.
        funds: runs that have a budget, by id.
        rooms: providers that have limits, by key.

    Returns:
        A verdict for each call, and the runs whose budget is used up.
    """
    purses = {run: _Purse(fund) for run, fund in funds.items()}
    gauges = {key: _Gauge(room) for key, room in rooms.items()}
    verdicts = [_decide(one, stopped, purses, gauges) for one in asked]
    return verdicts, {run for run, purse in purses.items() if purse.empty}


def _decide(
    one: Asked, stopped: Mapping[int, tuple[str, str]], purses: Mapping[str, _Purse], gauges: Mapping[str, _Gauge]
) -> Verdict:
    if one.key in stopped:
        return Verdict(Answer.STOP, *stopped[one.key])
    if isinstance(one.call, ToolCall):
        return GRANTED
    purse = purses.get(one.run_id)
    gauge = gauges.get(one.call.provider) if one.call.provider else None
    if purse is not None and (refused := purse.refusal(one.call.worst_case_usd)):
        return refused
    if gauge is not None and (waits := gauge.wait(one.call.tokens)):
        return waits
    if purse is not None:
        purse.reserve(one.call.worst_case_usd)
    if gauge is not None:
        gauge.take(one.call.tokens)
    return GRANTED


class _Purse:
    """What is left of a budget while calls are decided about."""

    def __init__(self, funds: RunFunds) -> None:
        self._funds = funds
        self._reserved = funds.reserved_usd
        self.empty = False

    def refusal(self, worst_usd: float | None) -> Verdict | None:
        funds = self._funds
        if worst_usd is None:
            if funds.allow_unpriced:
                return None
            return Verdict(Answer.STOP, "budget", "its price is not known, and the run has a budget")
        if self.empty or funds.spent_usd + worst_usd > funds.budget_usd + CENT_FRACTION:
            self.empty = True
            spent = f"${funds.spent_usd:.4f} of ${funds.budget_usd:g} is spent"
            return Verdict(Answer.STOP, "budget", f"{spent}, and the next request may cost ${worst_usd:.4f}")
        if funds.spent_usd + self._reserved + worst_usd > funds.budget_usd + CENT_FRACTION:
            return Verdict(Answer.WAIT, "budget", "requests under way may cost what is left of the budget")
        return None

    def reserve(self, worst_usd: float | None) -> None:
        self._reserved += worst_usd or 0


class _Gauge:
    """What is left of a provider's room while calls are decided about."""

    def __init__(self, room: ProviderRoom) -> None:
        self._blocked = room.blocked
        self._slots = room.slots
        self._requests = room.requests
        self._tokens = room.tokens

    def wait(self, tokens: int) -> Verdict | None:
        if self._blocked:
            return Verdict(Answer.WAIT, "provider", "the provider asked to wait")
        if self._slots < 1:
            return Verdict(Answer.WAIT, "provider", "as many requests as allowed are under way")
        if self._requests is not None and self._requests < 1:
            return Verdict(Answer.WAIT, "provider", "the requests of this minute are used up")
        if self._tokens is not None and self._tokens < tokens:
            return Verdict(Answer.WAIT, "provider", "the tokens of this minute are used up")
        return None

    def take(self, tokens: int) -> None:
        self._slots -= 1
        if self._requests is not None:
            self._requests -= 1
        if self._tokens is not None:
            self._tokens -= tokens
