"""Which entry of a fixture file answers a request, by the rules of aimock."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.messages import plain_content, user_content
from passgrid.model_api.asked import Asked
from passgrid.model_api.fixture_turns import FixtureMatch, FixtureTurn
from passgrid.model_api.messages_request import MESSAGES
from passgrid.model_api.responses_request import RESPONSES
from passgrid.model_api.said import json_text

_DATED = re.compile(r"-\d")


@dataclass(frozen=True, slots=True)
class Line:
    """One message as the matching rules see it."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str | None = None
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as the matching rules see it."""

    lines: tuple[Line, ...]
    tools: frozenset[str]
    model: str
    response_format: str | None
    context: str | None

    @property
    def turns(self) -> int:
        """How many model turns were there before."""
        return sum(line.role == "assistant" for line in self.lines)

    @property
    def user_text(self) -> str | None:
        """The text of the last user message that has one."""
        return next((line.text for line in reversed(self.lines) if line.role == "user" and line.text is not None), None)

    @property
    def system_text(self) -> str:
        """All system prompts."""
        return "\n".join(line.text or "" for line in self.lines if line.role == "system")

    @property
    def has_tool_result(self) -> bool:
        """Whether a tool's result came after the last user message."""
        asked = [i for i, line in enumerate(self.lines) if line.role == "user"]
        return any(line.role == "tool" for line in self.lines[asked[-1] + 1 if asked else 0 :])

    @property
    def last_result(self) -> Line | None:
        """The last message, where it is a tool's result."""
        return self.lines[-1] if self.lines and self.lines[-1].role == "tool" else None


def seen(asked: Asked, context: str | None) -> Seen:
    """The request as the matching rules see it."""
    lines = tuple(line for message in asked.messages for line in _lines(message, asked.api))
    tools = frozenset(tool.name for tool in asked.parameters.function_tools)
    return Seen(lines, tools, asked.model, asked.response_format, context)


def _lines(message: ModelMessage, api: str) -> list[Line]:
    if isinstance(message, ModelRequest):
        lines = [_line(part) for part in message.parts]
        # A message of this API that holds results and a text counts as the text and then the results.
        return sorted(lines, key=lambda line: line.role == "tool") if api == MESSAGES else lines
    return [Line("assistant")] * (_items(message) if api == RESPONSES else 1)


def _items(message: ModelResponse) -> int:
    """In this API each text and each call is an item of its own, and counts as a turn."""
    return sum(isinstance(part, TextPart | ToolCallPart) for part in message.parts)


def _line(part: ModelRequestPart) -> Line:
    if isinstance(part, SystemPromptPart):
        return Line("system", part.content)
    if isinstance(part, ToolReturnPart):
        return Line("tool", _text(plain_content(part.content)), part.tool_call_id)
    return Line("user", _text(user_content(part)) if isinstance(part, UserPromptPart) else None)


def _text(content: object) -> str | None:
    """The texts of a message, None where it has none but images."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json_text(content)
    texts = [item for item in content if isinstance(item, str)]  # pyright: ignore[reportUnknownVariableType]
    return "".join(texts) if texts else None


def choose(turns: Sequence[FixtureTurn], request: Seen, counts: Mapping[FixtureMatch, int]) -> FixtureTurn | None:
    """The entry that answers, None where none does. counts: how often the conditions held before."""
    fitting = [turn for turn in turns if _fits(turn.match, request, counts)]
    anywhere = next((turn for turn in fitting if turn.match.turn_index is None), None)
    placed = [(turn.match.turn_index, turn) for turn in fitting if turn.match.turn_index is not None]
    reached = [(index, turn) for index, turn in placed if index <= request.turns]
    if reached:
        # max and min take the first of equals: the earlier entry.
        index, best = max(reached, key=lambda pair: pair[0])
        earlier = anywhere is not None and fitting.index(anywhere) < fitting.index(best)
        return anywhere if index == request.turns and earlier else best
    if anywhere is not None or not placed:
        return anywhere
    return min(placed, key=lambda pair: pair[0])[1]


def _fits(match: FixtureMatch, request: Seen, counts: Mapping[FixtureMatch, int]) -> bool:
    return (
        match.context in {None, request.context}
        and match.response_format in {None, request.response_format}
        and match.tool_name in {None, *request.tools}
        and match.has_tool_result in {None, request.has_tool_result}
        and _fits_texts(match, request)
        and _fits_model(match.model, request.model)
        and _fits_result(match, request.last_result)
        and (match.sequence_index is None or counts.get(match, 0) == match.sequence_index)
    )


def _fits_texts(match: FixtureMatch, request: Seen) -> bool:
    user = request.user_text
    if match.user_message is not None and (user is None or match.user_message not in user):
        return False
    system = request.system_text
    return match.system_message is None or (system != "" and all(part in system for part in match.system_message))


def _fits_model(wanted: str | None, model: str) -> bool:
    if wanted is None or model == wanted:
        return True
    return model.startswith(wanted) and _DATED.match(model, len(wanted)) is not None


def _fits_result(match: FixtureMatch, result: Line | None) -> bool:
    if match.tool_call_id is not None and (result is None or result.call_id != match.tool_call_id):
        return False
    part = match.tool_result_contains
    return part is None or (result is not None and result.text is not None and part in result.text)
