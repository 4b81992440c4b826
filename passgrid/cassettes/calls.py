"""The tool calls of a cassette, each with the answer it got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from passgrid.cassettes.format import BrokenCassette, Cassette


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call as the model made it, and its answer: a result, an error, or a text of the agent library."""

    server: str
    tool: str
    arguments: Any
    result: Any
    error: str | None
    library: str | None


def recorded_calls(cassette: Cassette) -> Iterator[RecordedCall]:
    """Every answered call in order of request. Raises `BrokenCassette` where an answer belongs to no call."""
    for calls in _turns(cassette):
        yield from calls


def overlapping_calls(cassette: Cassette) -> Iterator[tuple[RecordedCall, ...]]:
    """The calls that reached a server, those of one model turn together: they may have overlapped."""
    for calls in _turns(cassette):
        if reached := tuple(call for call in calls if call.library is None):
            yield reached


def _turns(cassette: Cassette) -> Iterator[tuple[RecordedCall, ...]]:
    asked: list[Any] = []
    for step in cassette.steps:
        if "alone" in step:
            yield (_alone(step["alone"]),)
        if "model" in step:
            parts: list[Any] = step["model"]["parts"]
            asked = [part for part in parts if "call" in part]
        answered: list[dict[str, Any]] = step.get("calls", [])
        ordered = sorted(answered, key=lambda call: call["call"])
        # Tools that an agent program has itself reach nobody else.
        yield tuple(_recorded(call, asked) for call in ordered if not call.get("own"))


def _alone(call: dict[str, Any]) -> RecordedCall:
    server, result, error = call.get("server", ""), call.get("result"), call.get("error")
    return RecordedCall(server, call["tool"], call["args"], result, error, None)


def _recorded(call: dict[str, Any], asked: list[Any]) -> RecordedCall:
    if call["call"] >= len(asked):
        raise BrokenCassette(f"an answer to call {call['call']}, but the turn made {len(asked)}")
    part: Any = asked[call["call"]]
    return RecordedCall(
        server=call.get("server", ""),
        tool=part["call"],
        arguments=part["args"],
        result=call.get("result"),
        error=call.get("error"),
        library=call.get("library"),
    )
