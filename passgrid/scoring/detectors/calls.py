"""Odd patterns among the calls: waiting without end, and asking the same again."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.json_values import is_object
from passgrid.scoring.evidence import Evidence
from passgrid.transcript import ToolCallRecord

POLLED_CALLS = 10
"""From so many equal calls on …"""
POLLED_SHARE = 0.3
"""… that make up this share of all calls, a tool is polled without end."""
REPEATED_CALLS = 3
"""So many equal calls with equal answers, one directly after the other, are a repetition."""


def endless_polling(evidence: Evidence) -> str | None:
    """One question is asked again and again, whatever the answer. Where arguments are not known, by the tool alone."""
    calls = evidence.tool_calls
    counts = Counter(_question(call) for call in calls)
    if not counts:
        return None
    (question, count), *_ = counts.most_common(1)
    if count < POLLED_CALLS or count < POLLED_SHARE * len(calls):
        return None
    tool = question[0]
    errors = sum(call.error for call in calls if _question(call) == question)
    return f"{count} of {len(calls)} calls are to {tool}, the same each time; {errors} of them erred"


def repeated_call(evidence: Evidence) -> str | None:
    """The same call gets the same answer, and is made again."""
    for (question, answer), equal in groupby(evidence.tool_calls, key=lambda call: (_question(call), _answer(call))):
        count = len(list(equal))
        if count >= REPEATED_CALLS and question[1] is not None and answer is not None:
            return f"{question[0]} was called {count} times in a row with the same arguments and answered the same"
    return None


def _question(call: ToolCallRecord) -> tuple[str, bytes | None]:
    known = is_object(call.arguments) or isinstance(call.arguments, str)
    return call.tool, canonical_arguments({"": call.arguments}) if known else None


def _answer(call: ToolCallRecord) -> bytes | None:
    return None if call.result is None else canonical_arguments({"": call.result})
