"""The tables of an exported folder, a row each: what `passgrid export --format` writes and `import passgrid` reads.

Rows belong to an attempt by `run_id` and `attempt_id`. A column that a source does not know is null.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Json

from passgrid.matrix import Mode
from passgrid.outcome import OutcomeKind

MANIFEST = "passgrid-export.json"
VERSION = 2
READABLE = (1, 2)
"""1 had no agents."""

Kind = Literal["parquet", "jsonl"]
KINDS: tuple[Kind, ...] = ("parquet", "jsonl")


class Row(BaseModel):
    """One row of a table; a column that is not ours is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RunRow(Row):
    """One run."""

    run_id: str
    label: str
    mode: Mode
    created_at: datetime
    finished_at: datetime | None
    passgrid: str | None
    pydantic_ai: str | None
    mcp: str | None


class OfAttempt(Row):
    """A row that belongs to an attempt."""

    run_id: str
    attempt_id: str


class AttemptRow(OfAttempt):
    """One attempt with the axes of its cell, arm by arm in the order they were submitted."""

    model: str
    prompt: str
    target: str
    fault: str
    mitigation: str
    agent: str = "default"
    suite: str
    scenario: str
    tags: list[str]
    sample: int
    outcome: OutcomeKind
    outcome_detail: str | None
    reason: str | None
    model_turns: int | None
    tool_calls: int | None
    wasted_calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    duration_s: float | None
    working_s: float | None
    recovered_structured: int | None
    recovered_opaque: int | None
    leftovers: int | None
    digest: str | None
    started_at: datetime | None
    finished_at: datetime | None


class ToolCallRow(OfAttempt):
    """One tool call; `arguments` is JSON as text."""

    seq: int
    turn: int
    server: str
    tool: str
    arguments: Json[Any]
    result_bytes: int | None
    answered: str
    error: bool
    error_text: str | None
    started_ms: float
    duration_ms: float | None
    asked: int
    answered_at: int | None
    score: float | None


class ModelCallRow(OfAttempt):
    """One model turn."""

    turn: int
    answered: str
    served_model: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    cost_source: str | None
    started_ms: float
    duration_ms: float


class CheckRow(OfAttempt):
    """What one check or stage found."""

    name: str
    kind: str
    stage: bool
    required: bool
    passed: bool | None
    detail: str
    imported: bool


class FlagRow(OfAttempt):
    """What one detector found."""

    name: str
    detail: str


class TranscriptRow(OfAttempt):
    """The messages of an attempt; JSON as text."""

    messages: Json[list[dict[str, Any]]]


ROWS: dict[str, type[Row]] = {
    "runs": RunRow,
    "attempts": AttemptRow,
    "tool_calls": ToolCallRow,
    "model_calls": ModelCallRow,
    "checks": CheckRow,
    "flags": FlagRow,
    "transcripts": TranscriptRow,
}
"""Every table of the folder: `<name>.parquet` or `<name>.jsonl`."""
