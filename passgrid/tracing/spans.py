"""What the spans of a run say: run → attempt → model and tool calls. Values only; nothing here knows OpenTelemetry.

All ids follow from what a span is about, so two processes agree on them without talking, and a span that is sent twice
is the same span. A run's id is its trace's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from passgrid.outcome import OutcomeKind
from passgrid.transcript import ModelCallRecord, ToolCallRecord

if TYPE_CHECKING:  # it brings the agent library along, which the scheduler does without
    from passgrid.attempt import AttemptResult

Value = str | int | float | bool

PROVIDERS = {"openai": "openai", "openai-chat": "openai", "openai-responses": "openai", "anthropic": "anthropic"}
"""Our providers, as the semantic conventions of OpenTelemetry spell them; others stand as they are."""


@dataclass(frozen=True, slots=True)
class SpanValues:
    """One span. Times are nanoseconds since 1970."""

    name: str
    trace_id: int
    span_id: int
    parent_id: int | None
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Value]
    error: str | None = None
    """Why it counts as failed; None: it does not."""
    calls_out: bool = False
    """Whether it stands for a call to somebody else: a client's span."""


@dataclass(frozen=True, slots=True)
class TracedRun:
    """A run that ended."""

    run_id: str
    label: str
    mode: str
    state: str
    start_s: float
    end_s: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class TracedAttempt:
    """Which attempt a result is of."""

    run_id: str
    attempt_id: str
    try_: int
    sample: int
    suite: str
    scenario: str
    model: str
    prompt: str
    end_s: float
    """When it ended, in seconds since 1970."""


def run_span(run: TracedRun) -> SpanValues:
    """The root of a run's trace."""
    return SpanValues(
        name=f"run {run.label}",
        trace_id=_trace_id(run.run_id),
        span_id=_span_id(run.run_id),
        parent_id=None,
        start_ns=_ns(run.start_s),
        end_ns=_ns(run.end_s),
        attributes={
            "passgrid.run": run.run_id,
            "passgrid.label": run.label,
            "passgrid.mode": run.mode,
            "passgrid.state": run.state,
        },
        error="stopped" if run.state == "stopped" else None,
    )


def attempt_spans(attempt: TracedAttempt, result: AttemptResult) -> Iterator[SpanValues]:
    """The span of one try of an attempt, and below it one for each model call and each tool call."""
    trace, own = _trace_id(attempt.run_id), _span_id(attempt.run_id, attempt.attempt_id, attempt.try_)
    begin_s = attempt.end_s - result.duration_s
    broken = result.outcome.kind in {OutcomeKind.INFRA_ERROR, OutcomeKind.REPLAY_MISS}
    yield SpanValues(
        name=f"attempt {attempt.scenario}",
        trace_id=trace,
        span_id=own,
        parent_id=_span_id(attempt.run_id),
        start_ns=_ns(begin_s),
        end_ns=_ns(attempt.end_s),
        attributes={
            "passgrid.run": attempt.run_id,
            "passgrid.attempt": attempt.attempt_id,
            "passgrid.try": attempt.try_,
            "passgrid.sample": attempt.sample,
            "passgrid.suite": attempt.suite,
            "passgrid.scenario": attempt.scenario,
            "passgrid.model": attempt.model,
            "passgrid.prompt": attempt.prompt,
            "passgrid.outcome": result.outcome.name,
            **({"error.type": result.outcome.name} if broken else {}),
        },
        # Its reason may quote a server or a model: it stays in the database.
        error=result.outcome.name if broken else None,
    )
    place = _Place(attempt, trace, own, begin_s)
    for position, call in enumerate(result.model_calls):
        yield _model_call(place, position, call)
    for position, call in enumerate(result.tool_calls):
        yield _tool_call(place, position, call)


@dataclass(frozen=True, slots=True)
class _Place:
    attempt: TracedAttempt
    trace_id: int
    parent_id: int
    begin_s: float

    def id_of(self, kind: str, position: int) -> int:
        attempt = self.attempt
        return _span_id(attempt.run_id, attempt.attempt_id, attempt.try_, kind, position)

    def times(self, started_ms: float, duration_ms: float | None) -> tuple[int, int]:
        """Start and end; a call that never came back lasts as long as its attempt."""
        start = _ns(self.begin_s + started_ms / 1000)
        end = _ns(self.attempt.end_s) if duration_ms is None else start + int(duration_ms * 1e6)
        return start, max(start, end)


def _model_call(place: _Place, position: int, call: ModelCallRecord) -> SpanValues:
    provider, _, rest = place.attempt.model.partition(":")
    requested = rest.partition("?")[0]
    start, end = place.times(call.started_ms, call.duration_ms)
    known: dict[str, Value | None] = {
        "gen_ai.response.model": call.served_model,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": call.cache_read_tokens,
        "gen_ai.usage.cache_creation.input_tokens": call.cache_write_tokens,
        "passgrid.cost_usd": call.cost_usd,
    }
    return SpanValues(
        name=f"chat {requested}",
        trace_id=place.trace_id,
        span_id=place.id_of("model", position),
        parent_id=place.parent_id,
        start_ns=start,
        end_ns=end,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(provider, provider),
            "gen_ai.request.model": requested,
            **{name: value for name, value in known.items() if value is not None},
            "passgrid.turn": call.turn,
            "passgrid.answered": call.answered,
        },
        calls_out=True,
    )


def _tool_call(place: _Place, position: int, call: ToolCallRecord) -> SpanValues:
    start, end = place.times(call.started_ms, call.duration_ms)
    failed = _error_type(call)
    attributes: dict[str, Value] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "function",
        "passgrid.server": call.server,
        "passgrid.turn": call.turn,
        "passgrid.answered": call.answered,
    }
    if failed:
        attributes["error.type"] = failed
    return SpanValues(
        name=f"execute_tool {call.tool}",
        trace_id=place.trace_id,
        span_id=place.id_of("tool", position),
        parent_id=place.parent_id,
        start_ns=start,
        end_ns=end,
        attributes=attributes,
        # The text of an error is the tool's own, and may hold anything: it stays in the journal.
        error=failed,
    )


def _error_type(call: ToolCallRecord) -> str | None:
    if call.answered == "missed":
        return "replay_miss"
    if call.duration_ms is None:
        return "no_answer"
    return "tool_error" if call.error else None


def _trace_id(run_id: str) -> int:
    """A run's id is 128 bits of a hash, as a trace's; any other text is hashed."""
    if len(run_id) == 32:
        try:
            return int(run_id, 16)
        except ValueError:
            pass
    return int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:16])


def _span_id(*parts: str | int) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8])


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)
