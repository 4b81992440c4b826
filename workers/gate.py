"""The gate of a worker process: asks Postgres before every live call, for all of its attempts together.

One thread talks to Postgres; what arrives while it does so goes along in the next transaction.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from passgrid.admission import Answer, Asked, Verdict
from passgrid.endings import AttemptStopped
from passgrid.gate import ModelCall, Settlement, Ticket, ToolCall
from passgrid.warehouse.claims import Claim
from passgrid.warehouse.intents import Settled, exchange
from workers.writing import DATABASE_AWAY

log = logging.getLogger(__name__)

ASK_AGAIN_SECONDS = 0.05
"""Between two questions for calls that have to wait."""
AWAY_SECONDS = 1.0
"""Between two questions while the database is away."""


@dataclass
class _Waiting:
    """A call nobody has decided about yet."""

    asked: Asked
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]
    since: float = field(default_factory=time.perf_counter)


class GateKeeper:
    """Collects what attempts ask and settle, and exchanges it with Postgres in batches."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._news = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._settled: list[Settled] = []
        self._given = self._taken = 0
        self._fresh = False
        threading.Thread(target=self._run, name="gate", daemon=True).start()

    def ask(self, asked: Asked) -> asyncio.Future[None]:
        """A future that is done when the call may be made, or holds `AttemptStopped`. From the event loop."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(asked, loop, loop.create_future())
        with self._news:
            self._waiting.append(waiting)
            self._tell()
        return waiting.future

    def settle(self, settled: Settled) -> None:
        """Take what came of a call along with the next exchange."""
        with self._news:
            self._settled.append(settled)
            self._given += 1
            self._tell()

    def flush(self, patience_s: float) -> bool:
        """Wait until everything settled so far is in Postgres; False when that took too long."""
        until = time.monotonic() + patience_s
        with self._news:
            mine = self._given
            return self._news.wait_for(lambda: self._taken >= mine, max(0.0, until - time.monotonic()))

    def _tell(self) -> None:
        self._fresh = True
        self._news.notify_all()

    def _run(self) -> None:
        while True:
            with self._news:
                if not self._fresh:
                    self._news.wait(ASK_AGAIN_SECONDS if self._waiting else None)
                self._fresh = False
                settled = list(self._settled)
                waiting = [one for one in self._waiting if not one.future.cancelled()]
                self._waiting = list(waiting)
            if not settled and not waiting:
                continue
            try:
                verdicts = self._exchange(settled, [one.asked for one in waiting])
            except DATABASE_AWAY as error:
                # Nothing may be called while nobody keeps the account.
                log.warning("the gate cannot ask the database, again in %s s: %s", AWAY_SECONDS, error)
                time.sleep(AWAY_SECONDS)
                continue
            self._deliver(settled, waiting, verdicts)

    def _exchange(self, settled: Sequence[Settled], asked: Sequence[Asked]) -> list[Verdict]:
        """One transaction; where something in it cannot be written, one for each."""
        try:
            with self._engine.connect() as connection:
                return exchange(connection, settled, asked)
        except DATABASE_AWAY:
            raise
        except (SQLAlchemyError, psycopg.Error, ValueError, TypeError) as error:
            if len(settled) + len(asked) == 1:
                log.exception("a call cannot be accounted for")
                return [Verdict(Answer.STOP, "gate", f"it cannot be accounted for: {error}"[:300]) for _ in asked]
            for one in settled:
                self._exchange([one], [])
            return [verdict for one in asked for verdict in self._exchange([], [one])]

    def _deliver(self, settled: Sequence[Settled], waiting: Sequence[_Waiting], verdicts: Sequence[Verdict]) -> None:
        decided = [
            (one, verdict) for one, verdict in zip(waiting, verdicts, strict=True) if verdict.answer is not Answer.WAIT
        ]
        gone = {id(one) for one, _ in decided}
        with self._news:
            del self._settled[: len(settled)]
            self._taken += len(settled)
            self._waiting = [one for one in self._waiting if id(one) not in gone]
            self._news.notify_all()
        for loop in {one.loop for one, _ in decided}:
            loop.call_soon_threadsafe(self._resolve, [(one, verdict) for one, verdict in decided if one.loop is loop])

    def _resolve(self, decided: Sequence[tuple[_Waiting, Verdict]]) -> None:
        for one, verdict in decided:
            granted = verdict.answer is Answer.GRANTED
            if one.future.done():
                if granted:  # who asked was cancelled meanwhile: the call is not made
                    self.settle(Settled(one.asked, Settlement("not_made", 0.0, "free", 0)))
            elif granted:
                one.future.set_result(None)
            else:
                one.future.set_exception(AttemptStopped(verdict.detail, verdict.reason))


class AttemptGate:
    """The gate as one attempt sees it."""

    def __init__(self, keeper: GateKeeper, claim: Claim) -> None:
        self._keeper = keeper
        self._claim = claim
        self._calls = 0
        self.waits_for_providers = claim.waits_for_providers

    async def begin(self, call: ModelCall | ToolCall) -> Ticket:
        """Wait until the call may be made. Raises `AttemptStopped`."""
        claim = self._claim
        asked = Asked(claim.key, claim.fence, claim.run_id, self._calls, call)
        self._calls += 1
        started = time.perf_counter()
        await self._keeper.ask(asked)
        return _KeptTicket(self._keeper, asked, time.perf_counter() - started)


class _KeptTicket:
    """A call with an intent in Postgres."""

    def __init__(self, keeper: GateKeeper, asked: Asked, waited_s: float) -> None:
        self._keeper = keeper
        self._asked = asked
        self.waited_s = waited_s

    async def settle(self, settlement: Settlement) -> None:
        """Goes along with the next exchange; lost with the process, it counts as the worst case."""
        if isinstance(self._asked.call, ModelCall) or self._asked.call.writes:
            self._keeper.settle(Settled(self._asked, settlement))
