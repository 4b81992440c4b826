"""Scripted model turns from files in the format of aimock (`fixtures`): what they say, read and checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.json_values import is_array, is_object
from passgrid.model_api.fields import Fields
from passgrid.model_api.fixture_answers import NOT_SUPPORTED, FixtureAnswer, comments, read_answer
from passgrid.model_api.refusals import Refusal
from passgrid.problems import InvalidInput, Problem

# They say how fast an answer comes, or where it was recorded, and nothing about what it says: all comes at once here.
_PACE = frozenset(
    {"latency", "chunkSize", "streamingProfile", "recordedTimings", "replaySpeed", "metadata", "openRouterProcessing"}
)
_NAMES = (
    "userMessage systemMessage toolCallId toolResultContains toolName model responseFormat context hasToolResult "
    "turnIndex sequenceIndex endpoint"
)
_CONDITIONS = frozenset(_NAMES.split())


@dataclass(frozen=True, slots=True)
class FixtureMatch:
    """Which requests an entry answers. What is None matches every request."""

    user_message: str | None = None
    """Part of the last user message that has a text."""
    system_message: tuple[str, ...] | None = None
    """Parts of the system prompts; all must be there."""
    tool_call_id: str | None = None
    """The last message is the result of this call."""
    tool_result_contains: str | None = None
    """The last message is a tool's result with this part in it."""
    tool_name: str | None = None
    """A tool that is offered."""
    model: str | None = None
    """The model asked for, also with a date behind."""
    response_format: str | None = None
    context: str | None = None
    """The value of the header `x-aimock-context`."""
    has_tool_result: bool | None = None
    """Whether a tool's result came after the last user message."""
    turn_index: int | None = None
    """How many model turns were there before; picks among entries that match otherwise."""
    sequence_index: int | None = None
    """How many requests these very conditions took before."""


@dataclass(frozen=True, slots=True)
class FixtureTurn:
    """One entry of a file."""

    place: str
    """File and entry, as messages name it."""
    match: FixtureMatch
    answer: FixtureAnswer | Refusal


def read_fixture_turns(document: Mapping[str, Any], source: str) -> tuple[FixtureTurn, ...]:
    """The model turns of a document, which may hold other parts beside `fixtures`; none where it has no such part.

    source: the file's name, for messages. Raises `InvalidInput` with everything that is wrong or not supported.
    """
    problems: list[Problem] = []
    entries = document.get("fixtures", [])
    if not is_array(entries):
        raise InvalidInput([Problem(f"{source}: fixtures", "must be a list")])
    turns: list[FixtureTurn] = []
    for i, entry in enumerate(entries):
        place = f"{source}: fixtures[{i}]"
        if is_object(entry):
            turns.append(_turn(Fields(entry, place, problems), place))
        else:
            problems.append(Problem(place, "must be an object"))
    if problems:
        raise InvalidInput(problems)
    return tuple(turns)


def _turn(entry: Fields, place: str) -> FixtureTurn:
    entry.only({"match", "response", *_PACE, *comments(entry)}, NOT_SUPPORTED)
    match = entry.object("match", required=True)
    response = entry.object("response", required=True)
    answer = read_answer(response) if response else None
    return FixtureTurn(place, _match(match) if match else FixtureMatch(), answer or FixtureAnswer())


def _match(match: Fields) -> FixtureMatch:
    match.only(_CONDITIONS | set(comments(match)), NOT_SUPPORTED)
    for name in match.nulls:
        match.refuse(name, "must not be null: leave it out to match everything")
    match.choice("endpoint", ("chat",))
    system = match.texts("systemMessage")
    if match.raw("systemMessage") == []:
        match.refuse("systemMessage", "must hold a text")
    if match.raw("toolResultContains") == "":
        match.refuse("toolResultContains", "must not be empty")
    return FixtureMatch(
        user_message=match.text("userMessage"),
        system_message=None if system is None else tuple(system),
        tool_call_id=match.text("toolCallId"),
        tool_result_contains=match.text("toolResultContains"),
        tool_name=match.text("toolName"),
        model=match.text("model"),
        response_format=match.text("responseFormat"),
        context=match.text("context"),
        has_tool_result=match.flag("hasToolResult"),
        turn_index=match.whole("turnIndex", least=0),
        sequence_index=match.whole("sequenceIndex", least=0),
    )
