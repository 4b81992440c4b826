"""Odd patterns among the calls: waiting without end, and asking the same again."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from passgrid.cassettes.canonical import canonical_arguments
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
    calls, questions = evidence.tool_calls, evidence.questions
    if len(calls) < POLLED_CALLS:
        return None
    (question, count), *_ = Counter(questions).most_common(1)
    if count < POLLED_CALLS or count < POLLED_SHARE * len(calls):
        return None
    errors = sum(call.error for call, asked in zip(calls, questions, strict=True) if asked == question)
    return f"{count} of {len(calls)} calls are to {question[0]}, the same each time; {errors} of them erred"


def repeated_call(evidence: Evidence) -> str | None:
    """The same call gets the same answer, and is made again."""
    asked = zip(evidence.questions, evidence.tool_calls, strict=True)
    for question, equal in groupby(asked, key=lambda pair: pair[0]):
        answers = [_answer(call) for _, call in equal]
        for answer, same in groupby(answers):
            count = len(list(same))
            if count >= REPEATED_CALLS and question[1] is not None and answer is not None:
                return f"{question[0]} was called {count} times in a row with the same arguments and answered the same"
    return None


def _answer(call: ToolCallRecord) -> bytes | None:
    return None if call.result is None else canonical_arguments({"": call.result})
