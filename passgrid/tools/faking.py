"""Tools whose declared calls answer first; what is left goes on to a recording or a live server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.messages import BinaryContent
from pydantic_ai.tools import ToolDefinition

from passgrid.fakes.fake_service import FakeService, NothingBehind
from passgrid.fakes.loading import Fakes
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.messages import plain_content
from passgrid.tools.way import AnswerMark, MarksAnswers, OfferedTool, ToolSource
from passgrid.wire.json_rpc import RpcError
from passgrid.wire.mcp_service import Caller, Identity

FAKED = "faked"
REFUSED = "missed"
"""What the journal says of a call that the fakes refused."""


class _PassedOn(Exception):
    """The fakes leave this call to what stands behind them."""


class _GoOn(NothingBehind):
    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        raise _PassedOn


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that the fakes refused: the agent was told, and its attempt cannot pass."""

    tool: str
    message: str


class FakingTools:
    """A source of tools over another one. An attempt has one, and its state ends with it.

    The identity of its calls: the attempt's own test id, and the scenario's name as the context.
    """

    def __init__(self, inner: ToolSource, fakes: Fakes, mounts: Mapping[str, str], test_id: str, context: str) -> None:
        """mounts: the mount of each server, by its name."""
        self._inner = inner
        self.answered = inner.answered
        self._mounts = mounts
        self._fakes = fakes
        self._who = Identity(test_id, context)
        self._state = MemoryState(cap=0)
        self._services = {mount: FakeService(mount, self._at(mount), self._state, _GoOn()) for mount in mounts.values()}
        self._marks: dict[str, str] = {}
        self.refused: list[Refused] = []
        """Calls that were refused, in order."""

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """The tools from behind, and the faked ones beside them."""
        behind = await self._inner.offered(ctx)
        known = {tool.definition.name for tool in behind}
        faked = [
            _offered(server, tool.listed())
            for server, mount in self._mounts.items()
            for name, tool in self._fakes.mount(mount).tools(self._who.test_id, self._who.context).items()
            if name not in known
        ]
        return [*behind, *faked]

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """The declared answer, else the one from behind. Raises `ToolFailed` for what an agent is to see."""
        service = self._services.get(self._mount(tool.server))
        if service is None:
            return await self._inner.call(tool, arguments, ctx)
        params = {"name": tool.definition.name, "arguments": plain_content(arguments)}
        call_id = ctx.tool_call_id or ""
        try:
            result = await service.call(Caller(self._who), params)
        except _PassedOn:
            return await self._inner.call(tool, arguments, ctx)
        except RpcError as error:
            self._marks[call_id] = REFUSED
            self.refused.append(Refused(tool.definition.name, error.message))
            raise ToolFailed(error.message) from None
        self._marks[call_id] = FAKED
        return _said(result)

    def mark(self, call_id: str | None) -> AnswerMark | None:
        """How a call was answered."""
        mark = self._marks.get(call_id or "")
        if mark is not None:
            return AnswerMark(mark)
        return self._inner.mark(call_id) if isinstance(self._inner, MarksAnswers) else None

    def _mount(self, server: str) -> str:
        """The mount of a server. Imported recordings know none by name: where there is one alone, it is meant."""
        alone = next(iter(self._mounts.values())) if len(self._mounts) == 1 else ""
        return self._mounts.get(server, alone)

    def _at(self, mount: str) -> Any:
        async def at() -> MountFakes:
            return self._fakes.mount(mount)

        return at


def _offered(server: str, listed: Mapping[str, Any]) -> OfferedTool:
    definition = ToolDefinition(
        name=listed["name"], description=listed.get("description"), parameters_json_schema=listed["inputSchema"]
    )
    return OfferedTool(server, definition, reads=True, answered=FAKED)


def _said(result: Mapping[str, Any]) -> Any:
    """What an agent of ours reads of a result, as its own MCP client would. Raises `ToolFailed` for an error."""
    content = [_block(block) for block in result["content"]]
    structured = result.get("structuredContent")
    said: Any = content[0] if len(content) == 1 else content
    if structured is not None and all(block.get("type") == "text" for block in result["content"]):
        said = structured["result"] if set(structured) == {"result"} else structured
    if result.get("isError") is True:
        raise ToolFailed(said if isinstance(said, str) else str(plain_content(said)))
    return said


def _block(block: Mapping[str, Any]) -> Any:
    match block["type"]:
        case "text":
            return _maybe_json(block["text"])
        case "image" | "audio":
            return BinaryContent.from_data_uri(f"data:{block['mimeType']};base64,{block['data']}")
        case "resource":
            resource = block["resource"]
            return resource["text"] if "text" in resource else BinaryContent.from_data_uri(_data_uri(resource))
        case _:
            return block["uri"]


def _data_uri(resource: Mapping[str, Any]) -> str:
    return f"data:{resource.get('mimeType', 'application/octet-stream')};base64,{resource['blob']}"


def _maybe_json(text: str) -> Any:
    """Text that is JSON, as the value: clients read it so."""
    if not text.startswith(("[", "{")):
        return text
    from pydantic_core import from_json

    try:
        return from_json(text)
    except ValueError:
        return text
