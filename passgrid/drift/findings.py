"""One thing that changed, how much it matters, and how findings of many calls become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import orjson

from passgrid.storable import storable


class Severity(StrEnum):
    """What a change means for an agent that was made for the recorded server."""

    BREAKING = "breaking"
    """What it relied on is gone, renamed, or of another type."""
    COMPATIBLE = "compatible"
    """There is more than before, and all that was there."""
    VALUE_ONLY = "value-only"
    """The same shape with other values."""


RANK = {severity: rank for rank, severity in enumerate(Severity)}
"""The worst first."""

SURFACE, RESULT = "surface", "result"
"""The two parts of a server that are compared: what it lists, and what its tools answer."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change of one kind at one place of one tool."""

    part: str
    """surface or result."""
    server: str
    tool: str
    place: str
    """Where in the tool's declaration or answer, such as `address.province`; empty for the whole of it."""
    change: str
    """What happened to it, such as `renamed to state`."""
    severity: Severity
    recorded: Any = None
    """One example of what was there; null where there was nothing."""
    live: Any = None
    count: int = 1
    """Calls it was seen in; of the surface, attempts."""
    attempt: str = ""
    """Where the example was seen, where that is known."""


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Equal findings as one, counted, with the first example; the worst first, then those seen most often."""
    found: dict[tuple[str, ...], Finding] = {}
    for one in findings:
        key = (one.part, one.server, one.tool, one.place, one.change, one.severity)
        there = found.get(key)
        found[key] = one if there is None else replace(there, count=there.count + one.count)
    return tuple(sorted(found.values(), key=_order))


def _order(finding: Finding) -> tuple[Any, ...]:
    return (
        RANK[finding.severity], finding.part != SURFACE, -finding.count, finding.server, finding.tool, finding.place,
        finding.change,
    )  # fmt: skip


LONGEST_EXAMPLE = 300


def example(value: Any) -> Any:
    """A value as one example of many: itself where it is small, else the beginning of its text."""
    kept = storable(value)
    text = kept if isinstance(kept, str) else orjson.dumps(kept).decode()
    return kept if len(text) <= LONGEST_EXAMPLE else text[:LONGEST_EXAMPLE] + " …"
