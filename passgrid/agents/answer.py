"""What a program says at its end: its answer, and messages where it kept them itself."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from passgrid.agent_command import AgentCommand
from passgrid.agents.bounded_output import BoundedOutput
from passgrid.json_values import is_array, is_object

MAX_FILE_BYTES = 1_000_000
_AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NoAnswer(Exception):
    """The program ended well and left no answer where it was to be."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A program's answer."""

    text: str
    messages: tuple[ModelMessage, ...] = ()


def answer_of(agent: AgentCommand, stdout: BoundedOutput, file: Path) -> Answered:
    """The answer a program gave. Raises `NoAnswer` with what was expected."""
    if agent.result == "file":
        return Answered(_file_text(file))
    text = stdout.text().removesuffix("\n")
    return Answered(text) if agent.result == "stdout" else _document(text)


def _file_text(file: Path) -> str:
    try:
        # The worker reads what the agent left there: no link leads out of it, and nothing else is waited for.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | _AS_IT_IS)) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise NoAnswer("the agent wrote no answer to PASSGRID_RESULT_FILE: it is no plain file")
            data = opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise NoAnswer(f"the agent wrote no answer to PASSGRID_RESULT_FILE: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise NoAnswer(f"the answer in PASSGRID_RESULT_FILE is longer than {MAX_FILE_BYTES:,} bytes")
    return data.decode("utf-8", "replace").removesuffix("\n")


def _document(text: str) -> Answered:
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise NoAnswer(f"the agent's stdout is not one JSON object ({error.msg}): {text[:100]!r}") from None
    if not is_object(value) or not isinstance(value.get("text"), str):
        raise NoAnswer('the JSON on the agent\'s stdout has no "text" that is a string')
    messages = value.get("messages", [])
    if not is_array(messages):
        raise NoAnswer('"messages" in the agent\'s answer is not a list')
    return Answered(value["text"], tuple(_message(i, message) for i, message in enumerate(messages)))


def _message(position: int, message: Any) -> ModelMessage:
    role = message.get("role") if is_object(message) else None
    if role in {"user", "system"} and isinstance(message.get("content"), str):
        kind = UserPromptPart if role == "user" else SystemPromptPart
        parts: list[ModelRequestPart] = [kind(message["content"])]
        return ModelRequest(parts=parts)
    if role == "tool" and isinstance(message.get("tool_call_id"), str):
        returned = ToolReturnPart(str(message.get("name", "")), message.get("content"), message["tool_call_id"])
        return ModelRequest(parts=[returned])
    if role == "assistant" and isinstance(message.get("content"), str | None):
        texts: list[ModelResponsePart] = [TextPart(message["content"])] if message.get("content") else []
        calls: Any = message.get("tool_calls") or []
        if is_array(calls):
            return ModelResponse(parts=[*texts, *(_call(position, call) for call in calls)])
    raise NoAnswer(f"messages[{position}] in the agent's answer is no message with a known role and content")


def _call(position: int, call: Any) -> ToolCallPart:
    """As transcripts have it, or as the OpenAI API has it."""
    named: Any = call.get("function", call) if is_object(call) else {}
    if not is_object(named) or not isinstance(named.get("name"), str) or not isinstance(call.get("id"), str):
        raise NoAnswer(f"a tool call in messages[{position}] of the agent's answer has no id or no name")
    arguments: Any = named.get("arguments")
    return ToolCallPart(
        named["name"], arguments if isinstance(arguments, str) or is_object(arguments) else {}, call["id"]
    )
