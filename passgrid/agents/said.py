"""What was said between an agent and its model, as one conversation, out of requests that repeat it each time.

A program sends its model the whole history with each request. What is new in one is what a request adds to a history
that is known; a program may have several at once, for agents below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturnPart,
)

from passgrid.agents.tool_results import tells_the_same
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.identity import value_hash
from passgrid.messages import OWN_TOOL, TOLD, call_arguments, plain_content, transcript_of
from passgrid.storable import storable

Piece: TypeAlias = ModelRequestPart | ModelResponse


class Answer:
    """What a call of the program was answered over MCP."""

    def __init__(self, value: Any, *, failed: bool) -> None:
        self.value = plain_content(value)
        self.failed = failed


class Said:
    """Grows with every request and answer; may be looked at from another thread."""

    def __init__(self) -> None:
        self.messages: list[ModelMessage] = []
        """In order, each thing once. The result of a call is what its server answered."""
        self._histories: list[list[str]] = []
        self._asked: set[str] = set()
        self._open: dict[str, tuple[str, bytes]] = {}
        self._linked: set[str] = set()
        self._answers: dict[str, Answer] = {}

    @property
    def system(self) -> str | None:
        """The first system prompt; None where there is none."""
        parts = (part for message in self.messages if isinstance(message, ModelRequest) for part in message.parts)
        return next((part.content for part in parts if isinstance(part, SystemPromptPart)), None)

    def ask(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """Take in a request; what was said so far, each thing once."""
        pieces = _pieces(messages)
        keys = [_key(piece) for piece in pieces]
        again = value_hash(keys)
        if again not in self._asked:
            self._asked.add(again)
            self._add(self._new(pieces, keys))
        return list(self.messages)

    def answer(self, response: ModelResponse, request: Sequence[ModelMessage]) -> None:
        """The model's turn, given to a request."""
        self.messages.append(response)
        self._histories.append([*map(_key, _pieces(request)), _key(response)])
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        if calls:
            self._open = {part.tool_call_id: (part.tool_name, _arguments(part)) for part in calls}

    def link(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """The call of the latest turn that a call of the program carries out; None where the program had the idea."""
        wanted = (tool, canonical_arguments(arguments))
        for call_id, call in self._open.items():
            if call == wanted and call_id not in self._linked:
                self._linked.add(call_id)
                return call_id
        return None

    def answered(self, call_id: str, answer: Answer) -> None:
        """What a linked call was answered."""
        self._answers[call_id] = answer

    def _new(self, pieces: list[Piece], keys: list[str]) -> list[ModelRequestPart]:
        known = max((len(one) for one in self._histories if keys[: len(one)] == one), default=0)
        new = [piece for piece in pieces[known:] if not isinstance(piece, ModelResponse)]
        if known:
            return new
        # A history of its own: what calls in it were answered belongs to turns that are not in it.
        return [piece for piece in new if not isinstance(piece, ToolReturnPart)]

    def _add(self, parts: list[ModelRequestPart]) -> None:
        last = self.messages[-1] if self.messages else None
        calls = last.parts if isinstance(last, ModelResponse) else ()
        asked = {part.tool_call_id for part in calls if isinstance(part, ToolCallPart)}
        kept = [
            self._as_answered(part) if isinstance(part, ToolReturnPart) else part
            for part in parts
            # Of an agent below: it answers a turn that others came after.
            if not isinstance(part, ToolReturnPart) or part.tool_call_id in asked
        ]
        if kept:
            self.messages.append(ModelRequest(parts=_with_one_system_prompt(kept)))

    def _as_answered(self, part: ToolReturnPart[Any]) -> ToolReturnPart[Any]:
        """With its server's answer in place of what the program made of it, which is kept beside it."""
        answer = self._answers.get(part.tool_call_id)
        if answer is None:
            return replace(part, metadata={OWN_TOOL: True})
        told = plain_content(part.content)
        metadata = None if tells_the_same(told, answer.value) else {TOLD: told}
        outcome = "failed" if answer.failed else "success"
        return replace(part, content=answer.value, outcome=outcome, metadata=metadata)


def _with_one_system_prompt(parts: list[ModelRequestPart]) -> list[ModelRequestPart]:
    """A recording has one system prompt; some programs send it in several messages."""
    prompts = [part for part in parts if isinstance(part, SystemPromptPart)]
    if len(prompts) < 2:
        return parts
    one = SystemPromptPart("\n\n".join(part.content for part in prompts))
    return [one, *(part for part in parts if not isinstance(part, SystemPromptPart))]


def _arguments(part: ToolCallPart) -> bytes:
    return canonical_arguments(call_arguments(part))


def _pieces(messages: Sequence[ModelMessage]) -> list[Piece]:
    return [
        piece for message in messages for piece in (message.parts if isinstance(message, ModelRequest) else (message,))
    ]


def _key(piece: Piece) -> str:
    """What makes a piece of a history the same when it is sent again; what providers add to it may be lost."""
    if isinstance(piece, ModelResponse):
        [line] = transcript_of([piece])
        calls = [
            [part.tool_call_id, part.tool_name, _arguments(part).decode()]
            for part in piece.parts
            if isinstance(part, ToolCallPart)
        ]
        return value_hash(["assistant", (line["content"] or "").strip(), calls])
    [line] = transcript_of([ModelRequest(parts=[piece])])
    return value_hash(storable(line))
