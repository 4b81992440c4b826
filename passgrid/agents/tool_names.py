"""Names under which a program offers tools to its model: many clients put the server's before the tool's.

Recordings and journals have the tool's own name, so that one agent's recording fits another. What is said to the
program's model, and by it, is translated on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters


class ToolNames:
    """The names of one program; it may change them between requests."""

    def __init__(self, servers: Mapping[str, str], shown: Iterable[str]) -> None:
        """servers: of each tool that is offered to the program. shown: the names its model is given."""
        self._own = {name: own for name in shown if (own := _own_name(name, servers)) is not None}
        self._shown = {own: name for name, own in self._own.items()}
        self._same = all(name == own for name, own in self._own.items())

    def offered(self, parameters: ModelRequestParameters) -> ModelRequestParameters:
        """Without the tools that the program has itself, under their own names."""
        tools = [
            replace(tool, name=self._own[tool.name]) for tool in parameters.function_tools if tool.name in self._own
        ]
        return replace(parameters, function_tools=tools)

    def plain(self, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
        """The messages with every tool under its own name."""
        return list(messages) if self._same else [_renamed(message, self._own) for message in messages]

    def shown(self, response: ModelResponse) -> ModelResponse:
        """A turn with every tool under the name the program knows."""
        return response if self._same else _renamed_response(response, self._shown)


def _own_name(shown: str, servers: Mapping[str, str]) -> str | None:
    """The tool's own name; None for a tool that the program has itself."""
    if shown in servers:
        return shown
    fitting = [name for name, server in servers.items() if shown.endswith(name) and _is_prefix(shown, name, server)]
    return max(fitting, key=len, default=None)


def _is_prefix(shown: str, name: str, server: str) -> bool:
    """Whether what stands before a tool's name is its server's, as `mcp__server__` or `server.`."""
    written = re.sub(r"\W", "_", server)
    names = "|".join(map(re.escape, {server, written}))
    return bool(server) and re.fullmatch(rf"(mcp[_\W]+)?({names})[_\W]+", shown[: -len(name)], re.I) is not None


def _renamed(message: ModelMessage, names: Mapping[str, str]) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return _renamed_response(message, names)
    parts = [
        replace(part, tool_name=names.get(part.tool_name, part.tool_name)) if isinstance(part, ToolReturnPart) else part
        for part in message.parts
    ]
    return ModelRequest(parts=parts)


def _renamed_response(response: ModelResponse, names: Mapping[str, str]) -> ModelResponse:
    parts = [
        replace(part, tool_name=names.get(part.tool_name, part.tool_name)) if isinstance(part, ToolCallPart) else part
        for part in response.parts
    ]
    return replace(response, parts=parts)
