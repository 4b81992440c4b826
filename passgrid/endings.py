"""The ways an attempt is broken off from inside the agent loop."""

from __future__ import annotations

from passgrid.outcome import LimitName


class AttemptEnded(Exception):
    """Raised inside the agent loop to end the attempt here; the meter remembers it, whoever swallows it."""


class LimitReached(AttemptEnded):
    """A limit of the scenario: the next turn or call is not made."""

    def __init__(self, limit: LimitName, reason: str) -> None:
        self.limit = limit
        super().__init__(reason)


class AttemptStopped(AttemptEnded):
    """From outside: cancelled, out of budget, or no longer this worker's to run."""

    def __init__(self, detail: str, reason: str) -> None:
        self.detail = detail
        super().__init__(reason)


class ReplayMiss(AttemptEnded):
    """Something the recording does not hold was asked for. Never answered in another way."""


class RecordingEnded(AttemptEnded):
    """The recorded conversation was complete here: no further model turn was asked for then, none is now."""


class AgentFailed(AttemptEnded):
    """An agent program ended and says itself that it did not do the job, or left no answer."""
