"""The writing calls of a session so far, as far as they matter to a tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passgrid.identity import content_hash


@dataclass(frozen=True, slots=True)
class Write:
    """One writing call: its tool, and what tells it apart from others."""

    tool: str
    key: str


@dataclass(frozen=True, slots=True)
class History:
    """Steps of writing calls, oldest first. Several in one step overlapped, and nobody knows which came first.

    What a tool can tell of a history is the order of the writes it depends on. Two histories that agree on those are
    one state for it, whatever else happened.
    """

    steps: tuple[tuple[str, tuple[Write, ...]], ...] = ()
    """Each with a mark of the recorded step, which only overlapping writes are compared by."""

    def after(self, mark: str, writes: Sequence[Write]) -> History:
        """The history when these overlapping writes are done too."""
        return History((*self.steps, (mark, tuple(writes)))) if writes else self

    def state_for(self, relevant: frozenset[str] | None) -> str:
        """What a tool can tell of it; equal texts mean an equal state for a tool that depends on `relevant`."""
        told: list[str] = []
        for mark, writes in self.steps:
            keys = sorted(write.key for write in writes if relevant is None or write.tool in relevant)
            if len(keys) > 1:
                # Their order is not known: only this very step leads to the same state.
                told.append(f"{mark}:{'|'.join(keys)}")
            else:
                told += keys
        return content_hash("\n".join(told).encode()) if told else ""
