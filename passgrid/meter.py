"""One count over a whole attempt: turns, calls, tokens, cost and time, and the limits on them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator

from passgrid.endings import AttemptEnded, LimitReached
from passgrid.outcome import LimitName
from passgrid.scenario import Limits
from passgrid.transcript import ModelCallRecord, ToolCallRecord


class Meter:
    """Counts what an attempt uses, over all its user turns, and ends it at a limit.

    `ended` keeps the first reason to end, so that an agent or framework that swallows the exception changes nothing.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.started = time.perf_counter()
        self.model_calls: list[ModelCallRecord] = []
        self.tool_calls: list[ToolCallRecord] = []
        self.turns = 0
        self.calls = 0
        self.responses = 0
        self.ended: AttemptEnded | None = None
        self.waited_s = 0.0
        self._waiting = 0
        self._waiting_since = 0.0

    def now_ms(self) -> float:
        """Milliseconds since the attempt began."""
        return round((time.perf_counter() - self.started) * 1000, 3)

    def working_s(self) -> float:
        """Seconds since the attempt began, without those in which all it did was wait for a provider."""
        now = time.perf_counter()
        return now - self.started - self.waited_s - (now - self._waiting_since if self._waiting else 0)

    @contextlib.contextmanager
    def waiting(self) -> Generator[None]:
        """What is done in here is waiting for a provider; time that is not work."""
        if self._waiting == 0:
            self._waiting_since = time.perf_counter()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self.waited_s += time.perf_counter() - self._waiting_since

    def end(self, ending: AttemptEnded) -> AttemptEnded:
        """Remember why the attempt ends; the first reason stays. Returns it, to be raised."""
        if self.ended is None:
            self.ended = ending
        return self.ended

    def begin_turn(self) -> int:
        """Count a model turn and return its number, from 1. Raises `LimitReached` before one too many is made."""
        if self.ended is not None:
            raise self.ended
        limit = self.limits.model_turns
        if limit is not None and self.turns >= limit:
            raise self.end(LimitReached(LimitName.TURNS, f"{limit} model turns, and the agent wants another"))
        self._check_tokens_and_cost()
        self._check_working_time()
        self.turns += 1
        return self.turns

    def begin_call(self, tool: str) -> int:
        """Count a tool call and return its position, from 0. Raises `LimitReached` before one too many is made."""
        if self.ended is not None:
            raise self.ended
        limit = self.limits.tool_calls
        if limit is not None and self.calls >= limit:
            raise self.end(LimitReached(LimitName.CALLS, f"{limit} tool calls, and the agent wants {tool}"))
        self._check_working_time()
        self.calls += 1
        return self.calls - 1

    def answer_position(self) -> int:
        """The position of the response that came just now."""
        self.responses += 1
        return self.responses - 1

    def check_spent(self) -> None:
        """Raises `LimitReached` where more tokens or money are used than the attempt may."""
        self._check_tokens_and_cost(all_used_is_fine=True)

    def _check_working_time(self) -> None:
        limit = self.limits.working_seconds
        if limit is not None and self.working_s() >= limit:
            raise self.end(LimitReached(LimitName.TIME, f"{limit} s of work are over"))

    def _check_tokens_and_cost(self, *, all_used_is_fine: bool = False) -> None:
        tokens, cost = self.limits.tokens, self.limits.cost_usd
        if tokens is not None:
            used = sum((call.input_tokens or 0) + (call.output_tokens or 0) for call in self.model_calls)
            if used > tokens or (used == tokens and not all_used_is_fine):
                raise self.end(LimitReached(LimitName.TOKENS, f"{used} of {tokens} tokens are used"))
        if cost is not None:
            spent = sum(call.cost_usd or 0 for call in self.model_calls)
            if spent > cost or (spent == cost and not all_used_is_fine):
                raise self.end(LimitReached(LimitName.COST, f"${spent:.4f} of ${cost} is spent"))
