"""What verdicts rest on besides transcript and journal: kept with an attempt, and put together again to rescore it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from passgrid.attempt import AttemptResult
from passgrid.identity import canonical_json
from passgrid.outcome import Outcome
from passgrid.scoring.afterwards import afterwards_of
from passgrid.storable import storable
from passgrid.transcript import Message, ToolCallRecord
from passgrid.workspaces.changes import recorded_workspace


def evidence_blob(result: AttemptResult) -> bytes | None:
    """Files that differ from the template, and what servers said afterwards; None where there is neither."""
    files = result.files.to_json() if result.files is not None else None
    parts = {"files": files, "afterwards": result.afterwards.to_json()}
    kept = {name: part for name, part in parts.items() if part}
    return canonical_json(storable(kept)) if kept else None


def stored_result(
    outcome: Outcome,
    messages: list[Message],
    rows: Sequence[Mapping[str, Any]],
    kept: Mapping[str, Any],
    template: Mapping[str, bytes],
    duration_s: float,
) -> AttemptResult:
    """A finished attempt from what was stored of it: enough to judge it again, and nothing to run it.

    Args:
        outcome: how it ended, verdict aside.
        messages: its transcript.
        rows: of its journal, in order.
        kept: the evidence, as `evidence_blob` wrote it.
        template: the files its workspace began with.
        duration_s: how long it took.
    """
    files = kept.get("files")
    return AttemptResult(
        outcome=outcome,
        messages=messages,
        tool_calls=tuple(_calls(messages, rows)),
        model_calls=(),
        checks=(),
        tools=[],
        files=recorded_workspace(files, template) if files is not None else None,
        duration_s=duration_s,
        afterwards=afterwards_of(kept.get("afterwards", {})),
    )


def _calls(messages: list[Message], rows: Sequence[Mapping[str, Any]]) -> list[ToolCallRecord]:
    """Journal rows with their answers from the transcript: the n-th call of a tool in a turn to its n-th row."""
    answers: dict[tuple[int, str], list[Any]] = {}
    turn = 0
    for message in messages:
        if message["role"] == "assistant":
            turn += 1
        elif message["role"] == "tool":
            answers.setdefault((turn, message["name"]), []).append(message.get("content"))
    return [_call(row, answers.get((row["turn"], row["tool"]), [])) for row in rows]


def _call(row: Mapping[str, Any], answers: list[Any]) -> ToolCallRecord:
    came_back = row["result_bytes"] is not None
    answer = answers.pop(0) if answers else None
    return ToolCallRecord(
        turn=row["turn"], server=row["server"], tool=row["tool"], arguments=orjson.loads(row["arguments"]),
        result=answer if came_back and answer is not None else row["error_text"], answered=row["answered"],
        error=row["error"], error_text=row["error_text"], started_ms=row["started_ms"],
        duration_ms=row["duration_ms"], asked=row["asked"], answered_at=row["answered_at"], score=row["score"],
    )  # fmt: skip
