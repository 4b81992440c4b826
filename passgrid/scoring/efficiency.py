"""How an attempt went about its job: calls wasted, errors it got over, and the tool it called most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from passgrid.transcript import ToolCallRecord

STRUCTURED = re.compile(r"\[[A-Z][A-Z0-9_]*\].*\bsuggestion:", re.IGNORECASE | re.DOTALL)
"""An error that says what it is and what to do: `[CODE] … Suggestion: …`."""


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Of one attempt."""

    calls: int
    wasted: int
    """Calls that erred."""
    most_called: str | None
    """The tool called most, the first of several; None without a call."""
    most_calls: int
    recovered_structured: int
    """Errors with a code and a suggestion, after which the tool was called with success."""
    recovered_opaque: int
    """Other errors, after which it was."""


def efficiency(calls: Sequence[ToolCallRecord]) -> Efficiency:
    """How these calls went."""
    (most_called, most_calls), *_ = [*Counter(call.tool for call in calls).most_common(1), (None, 0)]
    last_success = {call.tool: i for i, call in enumerate(calls) if not call.error}
    recovered = [call for i, call in enumerate(calls) if call.error and last_success.get(call.tool, -1) > i]
    structured = sum(bool(STRUCTURED.search(call.error_text or "")) for call in recovered)
    return Efficiency(
        calls=len(calls),
        wasted=sum(call.error for call in calls),
        most_called=most_called,
        most_calls=most_calls,
        recovered_structured=structured,
        recovered_opaque=len(recovered) - structured,
    )
