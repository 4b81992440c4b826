"""From what a program did to the steps of its cassette: model turns, their calls, and calls it made by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import Step
from passgrid.cassettes.recorder import recorded_part, turn_facts
from passgrid.messages import call_arguments, plain_content, told_instead, user_content
from passgrid.meter import Meter
from passgrid.transcript import ToolCallRecord


def program_steps(
    said: Sequence[ModelMessage], turns: Sequence[str], meter: Meter
) -> tuple[tuple[Step, ...], dict[str, Any]]:
    """The steps of a program's attempt, and how long they took.

    said: with its model; turns: what it was asked to do, for one that used no model.
    """
    recorder = _Recorder(meter)
    steps = tuple(recorder.steps(said) if said else recorder.steps_without_model(turns))
    return steps, {"model": recorder.model_ms, "calls": recorder.calls_ms}


class _Recorder:
    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._called = 0
        self.model_ms: list[float | None] = []
        self.calls_ms: list[list[float | None]] = []

    def steps_without_model(self, turns: Sequence[str]) -> Iterator[Step]:
        """User turns, then every call."""
        yield from ({"user": turn} for turn in turns)
        yield from map(_alone, self._rows(0))

    def steps(self, said: Sequence[ModelMessage]) -> Iterator[Step]:
        """Every step in order."""
        turn = 0
        for i, message in enumerate(said):
            if isinstance(message, ModelRequest):
                yield from ({"user": user_content(part)} for part in message.parts if isinstance(part, UserPromptPart))
                if turn == 0:
                    yield from map(_alone, self._rows(0))
                continue
            turn += 1
            metered = self._meter.model_calls[turn - 1] if turn <= len(self._meter.model_calls) else None
            self.model_ms.append(metered.duration_ms if metered else None)
            yield {"model": {"parts": [self._part(part) for part in message.parts], **turn_facts(metered)}}
            yield from self._calls(message, said[i + 1] if i + 1 < len(said) else None, self._rows(turn))

    def _part(self, part: ModelResponsePart) -> dict[str, Any]:
        if isinstance(part, ToolCallPart):
            self._called += 1
            return {"call": part.tool_name, "id": f"call_{self._called}", "args": call_arguments(part)}
        return recorded_part(part)

    def _rows(self, turn: int) -> list[ToolCallRecord]:
        """The calls that a server answered while this was the latest turn."""
        rows = [row for row in self._meter.tool_calls if row.turn == turn and row.answered_at is not None]
        return sorted(rows, key=lambda row: row.asked)

    def _calls(self, turn: ModelResponse, after: ModelMessage | None, rows: list[ToolCallRecord]) -> Iterator[Step]:
        returns = _returns(after)
        carried: dict[int, ToolCallRecord] = {}
        left = list(rows)
        calls: list[dict[str, Any]] = []
        asked = [part for part in turn.parts if isinstance(part, ToolCallPart)]
        for position, part in enumerate(asked):
            row = next((row for row in left if _carries_out(row, part)), None)
            back = returns.get(part.tool_call_id)
            if row is not None and (back is not None or after is None):
                left.remove(row)
                carried[position] = row
                calls.append({"call": position, **_answer(row), **_told(back)})
            elif back is not None:
                kind = "error" if back.outcome == "failed" else "result"
                calls.append({"call": position, "own": True, kind: plain_content(back.content)})
        first = min((row.asked for row in carried.values()), default=0)
        yield from (_alone(row) for row in left if row.asked < first)
        if calls:
            self._note_times(calls, carried)
            yield {"calls": calls}
        yield from (_alone(row) for row in left if row.asked >= first)

    def _note_times(self, calls: list[dict[str, Any]], carried: dict[int, ToolCallRecord]) -> None:
        """How long they took, and where they overlapped, in which order they were answered."""
        self.calls_ms.append([row.duration_ms if (row := carried.get(call["call"])) else None for call in calls])
        positions = sorted(row.answered_at for row in carried.values() if row.answered_at is not None)
        for call in calls:
            if len(positions) > 1 and (row := carried.get(call["call"])) and row.answered_at is not None:
                call["answered"] = positions.index(row.answered_at)


def _returns(after: ModelMessage | None) -> dict[str, ToolReturnPart[Any]]:
    """What the next request says that calls were answered, by id."""
    parts = after.parts if isinstance(after, ModelRequest) else ()
    return {part.tool_call_id: part for part in parts if isinstance(part, ToolReturnPart)}


def _carries_out(row: ToolCallRecord, part: ToolCallPart) -> bool:
    same = canonical_arguments(row.arguments) == canonical_arguments(call_arguments(part))
    return row.tool == part.tool_name and same


def _answer(row: ToolCallRecord) -> dict[str, Any]:
    answer = {"error": row.error_text} if row.error else {"result": row.result}
    return {"server": row.server, **answer}


def _told(back: ToolReturnPart[Any] | None) -> dict[str, Any]:
    told = None if back is None else told_instead(back)
    return {} if told is None else {"told": told}


def _alone(row: ToolCallRecord) -> Step:
    return {"alone": {"tool": row.tool, "args": row.arguments, **_answer(row)}}
