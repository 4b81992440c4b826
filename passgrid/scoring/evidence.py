"""What a verdict may rest on: what was said, called and answered, and what exists afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.json_paths import as_json
from passgrid.json_values import is_array, is_object
from passgrid.scenario import Scenario
from passgrid.transcript import Message, ToolCallRecord, final_text


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something that is different on the platform after the attempt."""

    kind: str
    id: str
    change: Literal["created", "changed", "gone"]
    value: Any
    """As it is listed afterwards; as it was before where it is gone."""
    ours: bool = True
    """Whether this attempt made the difference; what others did meanwhile is no evidence."""


@dataclass(frozen=True)
class Evidence:
    """What a check may look at."""

    scenario: Scenario
    messages: list[Message]
    tool_calls: tuple[ToolCallRecord, ...]
    files: Mapping[str, str]
    """Text by path of the workspace at the end; empty without a workspace."""
    verdicts: Mapping[str, Any]
    """Verdicts of other tools, from the cassette."""
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files that differ from the workspace's template: created, changed or deleted, by path."""
    artifacts: Sequence[Artifact] = ()
    """What the attempt made, changed or removed on the platform."""
    read_backs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What servers said when they were asked afterwards: `{"value"}` or `{"error"}`, by name of the check."""
    end_state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The platform's state: `{"state"?, "equal"?, "differences"?, "error"?}`; empty where nobody read it."""
    judge: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What a judge said: `{"prompt_hash", "model", "said" | "error"}`; empty where none was asked."""
    mode: str = ""
    """What was live."""
    duration_s: float = 0.0
    cut_off: bool = False
    """Whether the attempt ended at a limit."""

    @property
    def final_text(self) -> str:
        """The agent's last words."""
        return final_text(self.messages)

    @property
    def said(self) -> str:
        """Everything the agent said, a message a paragraph."""
        texts = (message.get("content") for message in self.messages if message["role"] == "assistant")
        return "\n\n".join(text for text in texts if text)

    @cached_property
    def questions(self) -> list[tuple[str, bytes | None]]:
        """Of every call its tool and its arguments in canonical form; None where nobody knows them."""
        return [(call.tool, _canonical(call.arguments)) for call in self.tool_calls]

    @cached_property
    def answers(self) -> list[tuple[str, Any]]:
        """Tools and what they answered, errors left out, JSON in texts read."""
        return [(call.tool, as_json(call.result)) for call in self.tool_calls if not call.error and call.result]

    @cached_property
    def objects(self) -> list[tuple[str, int, dict[str, Any]]]:
        """Every JSON object anywhere in the answers, with the tool and the number of the answer it is in."""
        return [(tool, i, found) for i, (tool, answer) in enumerate(self.answers) for found in _objects(answer)]

    def results(self, tool: str, server: str | None = None) -> list[Any]:
        """What a tool answered, errors left out, in order."""
        return [
            call.result
            for call in self.tool_calls
            if call.tool == tool and server in {None, call.server} and not call.error
        ]


def _canonical(arguments: Any) -> bytes | None:
    known = is_object(arguments) or isinstance(arguments, str)
    return canonical_arguments({"": arguments}) if known else None


def _objects(value: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if is_object(item):
            found.append(item)
            waiting += [inner for inner in item.values() if isinstance(inner, dict | list)]
        elif is_array(item):
            waiting += [inner for inner in item if isinstance(inner, dict | list)]
    return found
