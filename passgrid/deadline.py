"""The limits of time on an attempt: one for the wall clock, one for work."""

from __future__ import annotations

import asyncio
from types import TracebackType

from passgrid.meter import Meter
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.scenario import Limits


class Deadline:
    """An asynchronous context that is cancelled at whichever limit is reached first, and raises `TimeoutError`."""

    def __init__(self, limits: Limits, meter: Meter) -> None:
        self._limits = limits
        self._meter = meter
        self._timeout = asyncio.timeout(limits.seconds)
        self._work: asyncio.Task[None] | None = None

    @property
    def passed(self) -> bool:
        """Whether a limit was reached."""
        return self._timeout.expired()

    def outcome(self) -> Outcome:
        """What reaching it means. Time that passed waiting for a provider says nothing about the agent."""
        if self._meter.working_s() >= (self._limits.working_seconds or float("inf")):
            return Outcome(OutcomeKind.LIMIT, LimitName.TIME, f"{self._limits.working_seconds} s of work are over")
        if self._meter.waited_s > (self._limits.seconds or 0) / 2:
            waited = f"{self._meter.waited_s:.0f} of {self._limits.seconds} s were spent waiting for the provider"
            return Outcome(OutcomeKind.INFRA_ERROR, "provider_wait", waited)
        return Outcome(OutcomeKind.LIMIT, LimitName.TIME, f"{self._limits.seconds} s are over")

    async def __aenter__(self) -> Deadline:
        await self._timeout.__aenter__()
        if self._limits.working_seconds is not None:
            self._work = asyncio.create_task(self._watch_work(self._limits.working_seconds))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if self._work is not None:
            self._work.cancel()
        return await self._timeout.__aexit__(kind, error, trace)

    async def _watch_work(self, seconds: float) -> None:
        while (left := seconds - self._meter.working_s()) > 0:  # noqa: ASYNC110 - waiting stretches it
            await asyncio.sleep(max(left, 0.01))
        self._timeout.reschedule(asyncio.get_running_loop().time())
