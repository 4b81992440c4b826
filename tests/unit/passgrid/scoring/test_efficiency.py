"""How an attempt went about its job."""

from __future__ import annotations

from passgrid.scoring.efficiency import Efficiency, efficiency
from passgrid.transcript import ToolCallRecord


def call(tool: str, error: str | None = None) -> ToolCallRecord:
    return ToolCallRecord(1, "s", tool, {}, error or "x", "live", error is not None, error, 0, 1, 0, 0)


def test_errors_an_agent_got_over_count_by_whether_they_said_what_to_do() -> None:
    calls = [
        call("train", "[NO_LABEL] no label is set. Suggestion: call select_label first"),
        call("train", "Traceback (most recent call last)"),
        call("train"),
        call("status"),
        call("deploy", "[QUOTA] no room. Suggestion: delete a model"),
    ]
    assert efficiency(calls) == Efficiency(
        calls=5, wasted=3, most_called="train", most_calls=3, recovered_structured=1, recovered_opaque=1
    )


def test_without_calls_there_is_no_tool_called_most() -> None:
    assert efficiency([]) == Efficiency(0, 0, None, 0, 0, 0)
