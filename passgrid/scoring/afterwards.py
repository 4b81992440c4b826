"""What was found on the platform after an attempt, and what was left there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from passgrid.scoring.evidence import Artifact


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something the attempt made that is still there."""

    kind: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Afterwards:
    """What servers said after the agent was done, before and after its artifacts were taken away."""

    artifacts: tuple[Artifact, ...] = ()
    read_backs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    end_state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    judge: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a judge said."""
    leftovers: tuple[Leftover, ...] = ()
    removed: int = 0
    """Artifacts that were taken away again."""
    trouble: str = ""
    """Why nobody knows what is left there, or what servers would have said; empty where all is known."""

    def to_json(self) -> dict[str, Any]:
        """As a recording and the stored evidence hold it; parts that are empty are left out."""
        parts: dict[str, Any] = {
            "artifacts": [asdict(one) for one in self.artifacts],
            "read_backs": dict(self.read_backs),
            "end_state": dict(self.end_state),
            "judge": dict(self.judge),
            "leftovers": [asdict(one) for one in self.leftovers],
            "removed": self.removed,
            "trouble": self.trouble,
        }
        return {name: part for name, part in parts.items() if part}

    def without(self, clean: Callable[[Any], Any]) -> Afterwards:
        """The same with every value cleaned."""
        return afterwards_of(clean(self.to_json()))


NOTHING = Afterwards()


def afterwards_of(document: Mapping[str, Any]) -> Afterwards:
    """From what `to_json` gave."""
    return Afterwards(
        artifacts=tuple(Artifact(**one) for one in document.get("artifacts", ())),
        read_backs=document.get("read_backs", {}),
        end_state=document.get("end_state", {}),
        judge=document.get("judge", {}),
        leftovers=tuple(Leftover(**one) for one in document.get("leftovers", ())),
        removed=document.get("removed", 0),
        trouble=document.get("trouble", ""),
    )
