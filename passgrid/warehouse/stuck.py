"""Work that does not go on, and why. Read from Postgres alone: nobody who may be stuck has to be asked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.scenario import Limits
from passgrid.warehouse import blobs
from passgrid.warehouse.heartbeats import kinds
from passgrid.warehouse.metrics import QueueLook, queue_looks

STUCK_SECONDS = 30.0
"""How long something that is due may wait without anything happening: twice a lease, and six turns of a worker."""
CONFIRM_SECONDS = 1.0
"""Between two looks at what seems to stand still: workers take what was just queued in a fraction of it."""
MANY_TRIES = 3
OVERTIME = 1.5
"""How far beyond its limit of time an attempt is looked at: ending it may take a while."""
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Stuck:
    """Something that does not go on."""

    subject: str
    why: str
    remedy: str
    standstill: bool
    """Nothing of its kind goes on until somebody acts; else it is worth knowing, and may be meant."""


def stuck_work(engine: sa.Engine) -> list[Stuck]:
    """Everything that does not go on, what stands still first."""
    found = standing_still(engine)
    with engine.connect() as connection:
        for look in (_held_runs, _blocked_providers, _tried_again, _overtime):
            found += look(connection)
    return found


def standing_still(engine: sa.Engine) -> list[Stuck]:
    """What stands still, also at a second look a moment later: a run that was just resumed has old attempts too."""
    found: list[Stuck] = []
    for wait in (0.0, CONFIRM_SECONDS):
        time.sleep(wait)
        with engine.connect() as connection:
            found = list(standstills(connection))
        if not found:
            break
    return found


def standstills(connection: sa.Connection) -> Iterator[Stuck]:
    """Queues nothing is taken from, and lost attempts nobody frees: cheap enough to ask often."""
    there = kinds(connection)
    expired = connection.execute(_LONG_EXPIRED, {"after": STUCK_SECONDS}).scalar_one()
    waiting = [look for look in queue_looks(connection) if (look.oldest_s or 0) > STUCK_SECONDS]
    scheduler = there.get("scheduler")
    if (expired or waiting) and (scheduler is None or not scheduler.alive):
        heard = f"was last heard of {scheduler.silent_s:.0f} s ago" if scheduler else "was never heard of"
        what = f"{sum(look.due for look in waiting)} attempts wait, {expired} lost their worker"
        remedy = "See its log; start it: `passgrid up`, or `python -m api.scheduler`."
        yield Stuck("scheduler", f"{what}, and the scheduler {heard}", remedy, True)
    elif expired:
        why = f"{expired} attempts lost their worker more than {STUCK_SECONDS:.0f} s ago and are not queued again"
        yield Stuck("leases", why, "See the scheduler's log: it frees them at every tick.", True)
    for look in waiting:
        host = there.get(look.queue)
        yield from _untaken(connection, look, host.alive if host else 0)


def _untaken(connection: sa.Connection, look: QueueLook, alive: int) -> Iterator[Stuck]:
    if connection.execute(_SOMETHING_HAPPENS, {"queue": look.queue, "within": STUCK_SECONDS}).scalar_one():
        return
    waits = f"{look.due} attempts wait, the first for {look.oldest_s or 0:.0f} s"
    subject = f"queue {look.queue}"
    if not alive:
        remedy = f"Start one: `passgrid up`, or `python -m workers.host {look.queue}`; see the log of the last."
        yield Stuck(subject, f"{waits}, and there is no {look.queue} worker", remedy, True)
        return
    why = f"{waits}; {alive} {look.queue} worker processes are there, and none took anything for {STUCK_SECONDS:.0f} s"
    remedy = "See the logs of the workers and whether they reach the broker; starting them again loses nothing."
    yield Stuck(subject, why, remedy, True)


def _held_runs(connection: sa.Connection) -> Iterator[Stuck]:
    for row in connection.execute(_HELD, {"shown": SHOWN}):
        run = row.run_id[:12]
        if row.state == "paused":
            yield Stuck(f"run {run}", f"paused, {row.left} attempts left", f"Go on: `passgrid resume {run}`.", False)
            continue
        why = f"stopped, {row.left} attempts left: {row.stop_reason or 'for a reason nobody wrote down'}"
        remedy = f"Go on: `passgrid resume {run}`"
        if row.budget_usd is not None and row.spent_usd + row.reserved_usd >= 0.9 * row.budget_usd:
            why += f" (${row.spent_usd:.2f} spent and ${row.reserved_usd:.2f} reserved of ${row.budget_usd:.2f})"
            remedy = f"Submit it again with a larger --budget, then `passgrid resume {run}`"
        yield Stuck(f"run {run}", why, f"{remedy}, or leave it as it is.", False)


def _blocked_providers(connection: sa.Connection) -> Iterator[Stuck]:
    for row in connection.execute(_BLOCKED):
        if row.auth_failures:
            why = f"refused {row.auth_failures} requests in a row: its key is not accepted"
            yield Stuck(
                f"provider {row.key}", why, "Give the live workers a key that is valid, and restart them.", False
            )
        if row.blocked_s > 0:
            until = f"{row.blocked_until:%Y-%m-%d %H:%M:%S} UTC, {row.blocked_s:.0f} s from now"
            why = f"asked to be left alone until {until}"
            yield Stuck(f"provider {row.key}", why, "Nothing: attempts go on by themselves then.", False)


def _tried_again(connection: sa.Connection) -> Iterator[Stuck]:
    for row in connection.execute(_RETRIED, {"many": MANY_TRIES, "shown": SHOWN}):
        attempt = f"attempt {row.attempt_id[:12]}"
        why = f"tried {row.fence} times ({row.failures} failed, {row.losses} lost their worker)"
        last = f"; the last: {row.reason} {row.detail}".rstrip() if row.reason else ""
        remedy = f"See why in the logs of the workers; `passgrid cancel {row.run_id[:12]}` ends its run."
        yield Stuck(attempt, f"{row.suite}/{row.scenario}: {why}{last}", remedy, False)


def _overtime(connection: sa.Connection) -> Iterator[Stuck]:
    """Attempts that run far beyond their limit: each look reads the orders of those that run longest."""
    rows = connection.execute(_LONGEST, {"most": 20}).all()
    orders = blobs.load(connection, {row.order_hash for row in rows})
    shown = 0
    for row in rows:
        limit = _seconds(orders.get(row.order_hash))
        if limit is None or row.running_s <= limit * OVERTIME or shown == SHOWN:
            continue
        shown += 1
        why = f"{row.suite}/{row.scenario}: runs for {row.running_s:.0f} s, its limit is {limit:.0f} s, on {row.worker}"
        remedy = "Its worker renews its lease and does not end it: restart that worker, the attempt is tried again."
        yield Stuck(f"attempt {row.attempt_id[:12]}", why, remedy, False)


def _seconds(order: bytes | None) -> float | None:
    """The limit of time in an order; what it does not say is the default. None: there is no limit, or no order."""
    if order is None:
        return None
    limits: dict[str, Any] = orjson.loads(order).get("scenario", {}).get("limits", {})
    return limits.get("seconds", Limits().seconds)


_LONG_EXPIRED = sa.text(
    "SELECT count(*) FROM attempts WHERE state = 'running' "
    "AND lease_until < clock_timestamp() - make_interval(secs => :after)"
)

_SOMETHING_HAPPENS = sa.text("""
SELECT EXISTS (
    SELECT 1 FROM attempts WHERE queue = :queue AND state = 'running' AND lease_until > clock_timestamp()
) OR EXISTS (
    SELECT 1 FROM attempts WHERE queue = :queue AND state = 'done'
        AND finished_at > clock_timestamp() - make_interval(secs => :within) AND worker IS NOT NULL
) OR EXISTS (
    SELECT 1 FROM attempts JOIN tries ON attempt_key = attempts.key WHERE queue = :queue AND state = 'queued'
        AND attempts.fence > 0 AND tries.started_at > clock_timestamp() - make_interval(secs => :within)
)
""")
"""Work under way, or done lately, or tried lately and queued again."""

_HELD = sa.text("""
SELECT run_id, runs.state, runs.stop_reason, budget_usd, spent_usd, reserved_usd,
    (SELECT count(*) FROM attempts WHERE attempts.run_id = runs.run_id AND attempts.state <> 'done') AS left
FROM runs WHERE runs.state IN ('paused', 'stopped') ORDER BY created_at DESC LIMIT :shown
""")

_BLOCKED = sa.text("""
SELECT key, auth_failures, blocked_until AT TIME ZONE 'UTC' AS blocked_until,
    coalesce(extract(epoch FROM blocked_until - clock_timestamp()), 0)::float8 AS blocked_s
FROM providers WHERE blocked_until > clock_timestamp() OR auth_failures > 0 ORDER BY key
""")

_RETRIED = sa.text("""
SELECT a.run_id, a.attempt_id, a.fence, a.failures, a.losses, c.suite, c.scenario, t.reason, t.detail
FROM attempts a JOIN cells c ON c.key = a.cell_key
LEFT JOIN LATERAL (
    SELECT reason, detail FROM tries WHERE attempt_key = a.key AND reason IS NOT NULL ORDER BY fence DESC LIMIT 1
) t ON true
WHERE a.state IN ('queued', 'running') AND a.failures + a.losses >= :many ORDER BY a.fence DESC LIMIT :shown
""")

_LONGEST = sa.text("""
SELECT a.attempt_id, a.worker, c.suite, c.scenario, c.order_hash,
    extract(epoch FROM clock_timestamp() - a.started_at)::float8 AS running_s
FROM attempts a JOIN cells c ON c.key = a.cell_key
WHERE a.state = 'running' AND a.lease_until > clock_timestamp() ORDER BY a.started_at LIMIT :most
""")
