"""Odd answers of the agent: they hide an error, or rest on nothing it was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import orjson

from passgrid.scoring.evidence import Evidence

_ADMITS = re.compile(
    r"\b(errors?|erred|fail\w*|could ?n[o']t|can(?:no|')?t|unable|unfortunately|not able|did ?n[o']t|was ?n[o']t|"
    r"were ?n[o']t|is ?n[o']t|won't|sorry|problem|issue|denied|refused|unsuccessful|not (?:found|possible|available)|"
    r"no such|does ?n[o']t|do ?n[o']t|missing|instead|however)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w])")
SMALL_NUMBER = 10
"""Numbers below are counts an agent may make itself."""
PAIRS = 400
"""Numbers of which sums, differences, products and quotients count as told."""


def error_ignored(evidence: Evidence) -> str | None:
    """A call erred, was never made good, and the answer does not say so."""
    if _ADMITS.search(evidence.final_text) or not evidence.final_text.strip():
        return None
    for i, call in enumerate(evidence.tool_calls):
        if call.error and not any(later.tool == call.tool and not later.error for later in evidence.tool_calls[i:]):
            return f"{call.tool} erred and never succeeded after that; the answer does not mention it"
    return None


def unsupported_answer(evidence: Evidence) -> str | None:
    """The answer names numbers that no tool, no user and no simple sum of theirs gave."""
    said = [number for number in _numbers(evidence.final_text) if abs(number) >= SMALL_NUMBER or number % 1]
    if not said or not evidence.tool_calls:
        return None
    told = list(dict.fromkeys(_told(evidence)))
    if not any(not call.error for call in evidence.tool_calls):
        return f"the answer says {said[0]:g}, and no tool answered"
    made = set(_reckoned(told[:PAIRS]))
    for number in said:
        if not (_close(number, told) or round(number, 2) in made or round(number) in made):
            return f"the answer says {number:g}, which no tool result, no task and no sum of theirs holds"
    return None


def _told(evidence: Evidence) -> Iterator[float]:
    for call in evidence.tool_calls:
        yield from _numbers(_text(call.result))
        yield from _numbers(_text(call.arguments))
    for message in evidence.messages:
        if message["role"] in {"user", "system"}:
            yield from _numbers(_text(message.get("content")))
    yield float(len(evidence.tool_calls))


def _reckoned(numbers: list[float]) -> Iterator[float]:
    total = sum(numbers)
    yield round(total, 2)
    yield float(len(numbers))
    for one, other in combinations(numbers, 2):
        for made in (one + other, one - other, other - one, one * other):
            yield round(made, 2)
        if one and other:
            yield round(one / other, 2)
            yield round(other / one, 2)
            yield round(100 * one / other, 2)
            yield round(100 * other / one, 2)


def _close(number: float, told: Iterable[float]) -> bool:
    """Whether a number is one of these, or one of them rounded."""
    return any(
        number == one or any(round(one, digits) == number for digits in range(3)) or number == round(one * 100, 2)
        for one in told
    )


def _numbers(text: str) -> list[float]:
    return [float(match.replace(",", "").replace("−", "-")) for match in _NUMBER.findall(text)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
