"""What was said and done in an attempt: messages in the shape everyone knows, and the calls behind them.

A transcript is a list of messages, each a JSON object:

* `{"role": "system" | "user", "content": text or parts}`
* `{"role": "assistant", "content": text or null, "thinking"?: […], "tool_calls"?: [{"id", "name", "arguments"}]}`
* `{"role": "tool", "tool_call_id", "name", "content": text or JSON, "outcome"?: "failed", "library"?: kind, "told"?}`

`library` marks a text that the agent library wrote in place of a server's answer. `told` is what an agent program told
its model of an answer, where that was something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """One journal row: a tool call, how it was answered, and when.

    Times are milliseconds from the start of the attempt.
    """

    turn: int
    """The model turn that asked for it, from 1."""
    server: str
    """The server that offers the tool; empty when none does."""
    tool: str
    arguments: Any
    """As the model wrote them: an object, or the text that was not one."""
    result: Any
    """The text or JSON the agent got; None when the call never came back."""
    answered: str
    """live, recorded, recorded_state, recorded_semantic, faked, faulted, missed, or library where no tool was reached.

    recorded: the recording's very next call. recorded_state: recorded in the state the session was in.
    recorded_semantic: to the same question in other words."""
    error: bool
    error_text: str | None
    started_ms: float
    duration_ms: float | None
    asked: int
    """Position among the attempt's calls by request."""
    answered_at: int | None
    """Position among them by response; None when it never came back."""
    score: float | None = None
    """How alike the recorded question is, where it was answered in other words."""


@dataclass(frozen=True, slots=True)
class ModelCallRecord:
    """One model turn: what it used and when. Unknown numbers are None, never 0."""

    turn: int
    answered: str
    """live, scripted or recorded."""
    served_model: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: float | None
    started_ms: float
    duration_ms: float
    cost_source: str | None = None
    """provider, prices, free or recorded; None where the cost is unknown."""


def final_text(messages: list[Message]) -> str:
    """The agent's last words: the text of its last message, empty when that has none."""
    for message in reversed(messages):
        if message["role"] == "assistant":
            return message.get("content") or ""
    return ""
