"""The two tasks. A message is only a hint that there is work; the claim decides what, and whether there still is."""

from __future__ import annotations

from workers.app import app
from workers.live import live_process
from workers.replay import replay_process


def replay() -> int:
    """Claim and run small batches of replayed attempts until none are queued, or the turn is over."""
    return replay_process().work()


def live() -> int:
    """Claim and run live attempts, one at a time, until none are queued, or the turn is over."""
    return live_process().work()


app.task(name="passgrid.replay", queue="replay")(replay)
app.task(name="passgrid.live", queue="live")(live)
