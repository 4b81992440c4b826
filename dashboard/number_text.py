"""Numbers as they are written on every page. What is unknown is a dash, never 0."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

NONE = "–"


def count(value: float | None) -> str:
    """1,164."""
    return NONE if value is None else f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def compact(value: float | None) -> str:
    """745, 24.2k, 1.3M."""
    if value is None:
        return NONE
    return count(value) if value < 1000 else f"{value / 1000:.3g}k" if value < 999_500 else f"{value / 1e6:.3g}M"


def rate(value: float | None) -> str:
    """0.200."""
    return NONE if value is None else f"{value:.3f}"


def between(low: float | None, high: float | None) -> str:
    """0.10–0.32."""
    return NONE if low is None or high is None else f"{low:.2f}–{high:.2f}"


def share(value: float | None) -> str:
    """97.5 %, rounded down so that 100 % means all."""
    return NONE if value is None else f"{int(value * 1000) / 10:g} %"


def dollars(value: float | None) -> str:
    """$0.0123, $1.20."""
    return NONE if value is None else f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def milliseconds(value: float | None) -> str:
    """0.05 ms, 231 ms, 1.53 s, 2 min 5 s."""
    if value is None:
        return NONE
    if value < 1000:
        return f"{value:.3g} ms" if value < 100 else f"{value:.0f} ms"
    return f"{value / 1000:.3g} s" if value < 120_000 else f"{value // 60_000:.0f} min {value % 60_000 / 1000:.0f} s"


def seconds(value: float | None) -> str:
    """As `milliseconds`, of seconds."""
    return milliseconds(None if value is None else value * 1000)


def moment(value: datetime | None) -> str:
    """2026-11-30 09:49 UTC."""
    return NONE if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def age(value: datetime | None, now: datetime | None = None) -> str:
    """How long ago: 5 minutes ago."""
    if value is None:
        return "at an unknown time"
    passed = max((now or datetime.now(UTC)) - value, timedelta())
    steps: tuple[tuple[str, float], ...] = (("day", 86_400), ("hour", 3600), ("minute", 60))
    for unit, length in steps:
        if (number := int(passed.total_seconds() // length)) >= 1:
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "less than a minute ago"


def size(value: Any) -> str:
    """984 B, 3.1 kB, 5.2 MB."""
    if value is None:
        return NONE
    return f"{value} B" if value < 1000 else f"{value / 1000:.3g} kB" if value < 1e6 else f"{value / 1e6:.3g} MB"


def series(numbers: Sequence[str]) -> str:
    """171 / 317 / 320 ms: a unit that all of them have is written once."""
    units = {number.partition(" ")[2] for number in numbers}
    unit = f" {units.pop()}"
    if units or unit.count(" ") > 1:
        return " / ".join(numbers)
    return " / ".join(number.removesuffix(unit) for number in numbers) + unit.rstrip()
