"""How an attempt ended, and whether it counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class OutcomeKind(StrEnum):
    """The ways an attempt can end (design: words)."""

    #: completed and every required check passed
    PASSED = "passed"
    #: completed, or broken off by the agent itself, and a required check did not pass
    FAILED = "failed"
    #: a limit of the scenario was reached; `detail` names it
    LIMIT = "limit"
    #: replay asked for something the recording does not hold
    REPLAY_MISS = "replay_miss"
    #: the harness, a server or a provider broke; `detail` names the kind
    INFRA_ERROR = "infra_error"
    #: a person stopped it
    CANCELLED = "cancelled"


VALID_KINDS = frozenset({OutcomeKind.PASSED, OutcomeKind.FAILED, OutcomeKind.LIMIT})
"""Outcomes that say something about the agent: n counts these and no others."""


class LimitName(StrEnum):
    """Which limit of a scenario was reached."""

    TIME = "time"
    TURNS = "turns"
    CALLS = "calls"
    TOKENS = "tokens"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one attempt."""

    kind: OutcomeKind
    detail: str = ""
    """The limit's name, the kind of infrastructure error, or empty."""
    reason: str = ""
    """One line for people: why."""

    @property
    def valid(self) -> bool:
        """Whether the attempt counts towards n."""
        return self.kind in VALID_KINDS

    @property
    def passed(self) -> bool:
        """Whether the attempt counts towards c."""
        return self.kind is OutcomeKind.PASSED

    @property
    def name(self) -> str:
        """The outcome as it is written in tables, such as `passed` or `limit(turns)`."""
        return f"{self.kind}({self.detail})" if self.detail else str(self.kind)
