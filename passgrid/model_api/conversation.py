"""Builds the messages of a conversation out of what a client sends piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)


class ConversationBuilder:
    """Groups what the user side says into requests and what the model said into responses, and knows every call."""

    def __init__(self) -> None:
        self.messages: list[ModelMessage] = []
        self._tools: dict[str, str] = {}

    def extend(self, messages: Iterable[ModelMessage]) -> None:
        """Go on from an earlier conversation."""
        for message in messages:
            if isinstance(message, ModelRequest):
                self.say(*message.parts)
            else:
                self.answer(message.parts)

    def say(self, *parts: ModelRequestPart) -> None:
        """Something from the user's side: prompts and results of tools."""
        last = self.messages[-1] if self.messages else None
        if isinstance(last, ModelRequest):
            self.messages[-1] = ModelRequest(parts=[*last.parts, *parts])
        else:
            self.messages.append(ModelRequest(parts=list(parts)))

    def answer(self, parts: Sequence[ModelResponsePart], *, joined: bool = False) -> None:
        """Something the model said. joined: it belongs to the same turn as what it said just before."""
        for part in parts:
            if isinstance(part, ToolCallPart):
                self._tools[part.tool_call_id] = part.tool_name
        last = self.messages[-1] if self.messages else None
        if joined and isinstance(last, ModelResponse):
            self.messages[-1] = ModelResponse(parts=[*last.parts, *parts])
        else:
            self.messages.append(ModelResponse(parts=list(parts)))

    def give_back(self, call_id: str, content: Any, *, failed: bool = False) -> bool:
        """A tool's result. False where no call has this id."""
        tool = self._tools.get(call_id)
        if tool is None:
            return False
        outcome = "failed" if failed else "success"
        self.say(ToolReturnPart(tool, content, tool_call_id=call_id, outcome=outcome))
        return True


def user_prompt(items: Sequence[UserContent]) -> UserPromptPart:
    """A user turn; one text alone is kept as a plain text."""
    if len(items) == 1 and isinstance(items[0], str):
        return UserPromptPart(items[0])
    return UserPromptPart(list(items) or "")


def plain(items: Sequence[UserContent]) -> Any:
    """A tool's result: one text alone as a text, else the list."""
    if not items:
        return ""
    return items[0] if len(items) == 1 else list(items)


def image_at(url: str) -> ImageUrl | BinaryContent | None:
    """The image a URL names or holds; None where it is a data URI that cannot be read."""
    if not url.startswith("data:"):
        return ImageUrl(url)
    try:
        return BinaryContent.from_data_uri(url)
    except ValueError:
        return None
