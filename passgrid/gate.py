"""The gate before every live call: asked before the call is made, told afterwards what came of it.

In replay nobody asks: nothing is bought and nothing is changed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A model request that is about to be sent."""

    model: str
    provider: str | None
    """`provider:account` whose limits it counts against; None for a model that nobody limits."""
    tokens: int
    """At most so many, in and out."""
    worst_case_usd: float | None
    """None: no price is known, or the output has no bound."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that is about to be made."""

    server: str
    tool: str
    arguments: dict[str, Any]
    writes: bool
    """False only where the server says that the tool reads."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What came of a call."""

    status: str
    """`ok`, or the kind of failure."""
    cost_usd: float | None = None
    """None: unknown; then the worst case counts."""
    cost_source: str | None = None
    tokens: int | None = None
    retry_after_s: float | None = None
    made: tuple[tuple[str, str], ...] = ()
    """Kinds and ids of artifacts it made: whoever cleans up after a crash must know them."""


class Ticket(Protocol):
    """One call that was let through."""

    waited_s: float
    """How long it waited for its provider: time that is not work."""

    async def settle(self, settlement: Settlement) -> None:
        """Say what came of the call. Not saying it counts as the worst case."""
        ...


class Gate(Protocol):
    """Lets calls of one attempt through, or ends the attempt."""

    waits_for_providers: bool
    """Whether a rate limit is waited out rather than ending the try."""

    async def begin(self, call: ModelCall | ToolCall) -> Ticket:
        """Wait until the call may be made. Raises `AttemptStopped` where it may not: cancelled, lost, over budget."""
        ...


class _Free:
    waited_s = 0.0

    async def settle(self, settlement: Settlement) -> None:
        """Nobody keeps an account."""


class OpenGate:
    """Lets everything through: replay, and attempts run without a worker."""

    waits_for_providers = False

    async def begin(self, call: ModelCall | ToolCall) -> Ticket:
        """At once."""
        return _FREE


_FREE = _Free()
OPEN_GATE = OpenGate()
