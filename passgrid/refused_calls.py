"""Calls that reached no tool: steps too, so the journal has them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart

from passgrid.messages import call_arguments, library_kind
from passgrid.meter import Meter
from passgrid.transcript import ToolCallRecord


def refused_calls(messages: Sequence[ModelMessage], meter: Meter) -> list[ToolCallRecord]:
    """Journal rows for calls the agent library answered itself: an unknown tool, or arguments that are no object."""
    rows: list[ToolCallRecord] = []
    turn, asked = 0, dict[str, ToolCallPart]()
    for message in messages:
        if isinstance(message, ModelResponse):
            turn += 1
            asked = {part.tool_call_id: part for part in message.parts if isinstance(part, ToolCallPart)}
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart) and (kind := library_kind(part)):
                call = asked.get(part.tool_call_id)
                rows.append(_row(part.tool_name, call, kind, turn, meter, len(rows)))
    return rows


def _row(tool: str, call: ToolCallPart | None, kind: str, turn: int, meter: Meter, before: int) -> ToolCallRecord:
    started = next((one.started_ms + one.duration_ms for one in meter.model_calls if one.turn == turn), 0.0)
    return ToolCallRecord(
        turn=turn,
        server="",
        tool=tool,
        arguments=None if call is None else call_arguments(call),
        result=kind,
        answered="library",
        error=True,
        error_text=kind,
        started_ms=started,
        duration_ms=None,
        asked=meter.calls + before,
        answered_at=None,
    )
