"""Spans of a run, as values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from passgrid.attempt import AttemptResult
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.tracing.spans import SpanValues, TracedAttempt, TracedRun, attempt_spans, run_span
from passgrid.transcript import ModelCallRecord, ToolCallRecord

RUN = "0123456789abcdef0123456789abcdef"
ATTEMPT = TracedAttempt(RUN, "a" * 32, 2, 0, "shop", "count", "openai:gpt-5?effort=high", "plain", end_s=1000.0)
MODEL_CALL = ModelCallRecord(
    turn=1, answered="live", served_model="gpt-5-2026", finish_reason="stop", input_tokens=10, output_tokens=None,
    cache_read_tokens=None, cache_write_tokens=None, cost_usd=None, started_ms=100.0, duration_ms=500.0,
)  # fmt: skip
TOOL_CALL = ToolCallRecord(
    turn=1, server="stock", tool="count", arguments={}, result=5, answered="live", error=False, error_text=None,
    started_ms=600.0, duration_ms=50.0, asked=0, answered_at=0,
)  # fmt: skip


def result(outcome: OutcomeKind = OutcomeKind.PASSED, *tools: ToolCallRecord) -> AttemptResult:
    return AttemptResult(
        Outcome(outcome, reason="because"), [], tools or (TOOL_CALL,), (MODEL_CALL,), (), [], None, duration_s=2.0
    )


def spans(of: AttemptResult | None = None, attempt: TracedAttempt = ATTEMPT) -> list[SpanValues]:
    return list(attempt_spans(attempt, of or result()))


def test_a_run_an_attempt_and_its_calls_are_one_tree() -> None:
    root = run_span(TracedRun(RUN, "nightly", "live", "done", 900.0, 1001.0))
    attempt, chat, tool = spans()
    assert {span.trace_id for span in (root, attempt, chat, tool)} == {int(RUN, 16)}
    assert (root.parent_id, attempt.parent_id) == (None, root.span_id)
    assert chat.parent_id == tool.parent_id == attempt.span_id
    assert len({span.span_id for span in (root, attempt, chat, tool)}) == 4


def test_times_are_those_of_the_attempt() -> None:
    attempt, chat, tool = spans()
    assert (attempt.start_ns, attempt.end_ns) == (998_000_000_000, 1_000_000_000_000)
    assert (chat.start_ns, chat.end_ns) == (998_100_000_000, 998_600_000_000)
    assert (tool.start_ns, tool.end_ns) == (998_600_000_000, 998_650_000_000)


def test_an_attempt_says_what_it_was_and_how_it_ended() -> None:
    attributes = spans()[0].attributes
    assert attributes["passgrid.run"] == RUN
    assert attributes["passgrid.attempt"] == "a" * 32
    assert attributes["passgrid.try"] == 2
    assert attributes["passgrid.scenario"] == "count"
    assert attributes["passgrid.model"] == "openai:gpt-5?effort=high"
    assert attributes["passgrid.outcome"] == "passed"


def test_a_model_call_follows_the_conventions_and_leaves_out_what_is_unknown() -> None:
    chat = spans()[1]
    assert chat.name == "chat gpt-5"
    assert chat.calls_out
    assert chat.attributes["gen_ai.operation.name"] == "chat"
    assert chat.attributes["gen_ai.provider.name"] == "openai"
    assert chat.attributes["gen_ai.request.model"] == "gpt-5"
    assert chat.attributes["gen_ai.response.model"] == "gpt-5-2026"
    assert chat.attributes["gen_ai.usage.input_tokens"] == 10
    assert "gen_ai.usage.output_tokens" not in chat.attributes
    assert "passgrid.cost_usd" not in chat.attributes


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (TOOL_CALL, None),
        (replace(TOOL_CALL, error=True, error_text="secret things"), "tool_error"),
        (replace(TOOL_CALL, answered="missed", error=True), "replay_miss"),
        (replace(TOOL_CALL, duration_ms=None, result=None), "no_answer"),
    ],
)
def test_a_tool_call_says_how_it_failed_and_nothing_a_tool_said(call: ToolCallRecord, error: str | None) -> None:
    tool = spans(result(OutcomeKind.PASSED, call))[2]
    assert tool.name == "execute_tool count"
    assert tool.attributes["gen_ai.tool.name"] == "count"
    assert tool.attributes.get("error.type") == error
    assert tool.error == error
    assert "secret" not in str(tool)
    assert tool.end_ns <= spans()[0].end_ns


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [(OutcomeKind.FAILED, False), (OutcomeKind.INFRA_ERROR, True), (OutcomeKind.REPLAY_MISS, True)],
)
def test_only_what_broke_is_an_error(outcome: OutcomeKind, failed: bool) -> None:
    span = spans(result(outcome))[0]
    assert span.error == (str(outcome) if failed else None)
    assert "because" not in str(span)


def test_another_try_is_another_span_and_the_same_one_is_the_same() -> None:
    assert spans()[0].span_id == spans()[0].span_id
    assert spans(attempt=replace(ATTEMPT, try_=3))[0].span_id != spans()[0].span_id
