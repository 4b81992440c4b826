"""Median, 90th percentile and maximum of what attempts used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Distribution:
    """Of one number over the valid attempts of an arm."""

    median: float
    p90: float
    max: float


def distribution(values: Sequence[float | None]) -> Distribution | None:
    """None where there is no value, or one is unknown. p90 is the nearest rank: a value that occurred."""
    known = sorted(value for value in values if value is not None)
    if not known or len(known) != len(values):
        return None
    middle = len(known) // 2
    median = known[middle] if len(known) % 2 else (known[middle - 1] + known[middle]) / 2
    return Distribution(median, known[math.ceil(0.9 * len(known)) - 1], known[-1])
