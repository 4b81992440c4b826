"""The same cases over every carrier: HTTP in each version of the protocol, lines on a stream, and in-process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import httpx2

from passgrid.fakes.fake_service import FakeService, NothingBehind
from passgrid.fakes.load_errors import UnusableFakes
from passgrid.fakes.loading import CONTROL_API, Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.json_values import is_object
from passgrid.wire.json_rpc import RpcError
from passgrid.wire.mcp_messages import error_message, result_message
from passgrid.wire.mcp_service import Caller, Identity
from passgrid.wire.mcp_stdio import StdioFront

ABSENT = object()
HANDSHAKE = ("2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"


@dataclass(frozen=True)
class Who:
    """The identity of a call."""

    test_id: str | None = None
    context: str | None = None
    undeclared: str | None = None
    by: str = "header"


NOBODY = Who()


def call_message(tool: Any, arguments: Any = ABSENT, identifier: Any = 1) -> dict[str, Any]:
    params = {"name": tool} if arguments is ABSENT else {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identifier, "method": "tools/call", "params": params}


class Wire(Protocol):
    """One carrier."""

    name: str

    async def load(self, *blocks: Mapping[str, Any]) -> Any: ...

    async def call(self, tool: Any, arguments: Any = ABSENT, who: Who = NOBODY) -> dict[str, Any]: ...

    async def batch(self, messages: Sequence[Mapping[str, Any]], who: Who = NOBODY) -> list[dict[str, Any]]: ...

    async def journal(self, test_id: str) -> list[tuple[str, str | None]]: ...

    async def reset(self) -> None: ...

    def handled(self) -> list[str]: ...


@dataclass
class HttpWire:
    """A gateway process, spoken to in one version of the protocol."""

    name: str
    url: str
    version: str
    ran: Path
    client: httpx2.AsyncClient
    sessions: dict[str, str] = field(default_factory=dict[str, str])

    async def load(self, *blocks: Mapping[str, Any]) -> Any:
        answer = await self.client.post(f"{self.url}/__aimock/fixtures", json={"mcpFakes": list(blocks)})
        return answer.json()

    async def call(self, tool: Any, arguments: Any = ABSENT, who: Who = NOBODY) -> dict[str, Any]:
        answer = await self.post(call_message(tool, arguments), who)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def batch(self, messages: Sequence[Mapping[str, Any]], who: Who = NOBODY) -> list[dict[str, Any]]:
        return (await self.post(list(messages), who)).json()

    async def journal(self, test_id: str) -> list[tuple[str, str | None]]:
        rows = (await self.client.get(f"{self.url}/__aimock/journal", params={"testId": test_id})).json()
        return [(row["body"]["method"], row["response"].get("mcpFake", {}).get("outcome")) for row in rows]

    async def reset(self) -> None:
        assert (await self.client.post(f"{self.url}/__aimock/reset")).status_code == 200

    def handled(self) -> list[str]:
        return self.ran.read_text().split() if self.ran.exists() else []

    async def post(
        self,
        body: Any,
        who: Who = NOBODY,
        mount: str = "/mcp",
        headers: Sequence[tuple[str, str]] = (),
        query: str = "",
    ) -> httpx2.Response:
        """One POST, with the headers this version wants."""
        if self.version == MODERN and is_object(body):
            body, own = _enveloped(body)
        else:
            own = [] if self.version == MODERN else [("mcp-session-id", await self.session(mount))]
        query = query or _query(who)
        return await self.client.post(
            f"{self.url}{mount}{'?' + query if query else ''}",
            content=json.dumps(body),
            headers=[*own, *_headers(who), *headers],
        )

    async def session(self, mount: str = "/mcp") -> str:
        """A session whose handshake is complete."""
        if mount not in self.sessions:
            answer = await self.begin(mount)
            self.sessions[mount] = answer.headers["mcp-session-id"]
            done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            headers = {"mcp-session-id": self.sessions[mount]}
            assert (await self.client.post(f"{self.url}{mount}", json=done, headers=headers)).status_code == 202
        return self.sessions[mount]

    async def begin(self, mount: str = "/mcp", **options: Any) -> httpx2.Response:
        """The handshake's first half."""
        info = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": {"name": "cases", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}
        return await self.client.post(f"{self.url}{mount}", json=body, **options)


class Handlers(NothingBehind):
    """Handlers in this process; they write down that they ran."""

    answered = "handler"

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        return [{"name": name, "inputSchema": {"type": "object"}} for name in ("get_weather", "plain_tool")]

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if params["name"] not in {"get_weather", "plain_tool"}:
            return await super().call(caller, params)
        self.ran.append(params["name"])
        return {"content": [{"type": "text", "text": f"handled {params['name']}"}]}


class InProcessWire:
    """The service itself."""

    name = "in-process"

    def __init__(self, cap: int) -> None:
        self.fakes = Fakes()
        self.state = MemoryState(cap)
        self.handlers = Handlers()
        self.service = FakeService("/mcp", self._at, self.state, self.handlers, cap)

    async def _at(self) -> MountFakes:
        return self.fakes.mount("/mcp")

    async def load(self, *blocks: Mapping[str, Any]) -> Any:
        try:
            loaded = load(self.fakes, {"mcpFakes": list(blocks)}, CONTROL_API)
        except UnusableFakes as error:
            return {"error": "nothing was added", "details": [one.detail() for one in error.errors]}
        self.fakes = loaded.fakes
        return {"added": 0, "mcpFakesAdded": loaded.added, "warnings": list(loaded.warnings)}

    async def call(self, tool: Any, arguments: Any = ABSENT, who: Who = NOBODY) -> dict[str, Any]:
        return await self._one(call_message(tool, arguments), who)

    async def batch(self, messages: Sequence[Mapping[str, Any]], who: Who = NOBODY) -> list[dict[str, Any]]:
        return [await self._one(message, who) for message in messages]

    async def _one(self, message: Mapping[str, Any], who: Who) -> dict[str, Any]:
        caller = Caller(_identity(who), None, "", "in-process", "/mcp", None, message)
        try:
            if message["method"] == "ping":
                await self.service.noted(caller)
                return result_message(message["id"], {})
            return result_message(message["id"], await self.service.call(caller, message["params"]))
        except RpcError as error:
            return error_message(message["id"], error)

    async def journal(self, test_id: str) -> list[tuple[str, str | None]]:
        rows = [one for one in self.state.journal if one.identity.test_id == test_id]
        return [(one.request.body["method"], one.outcome) for one in rows]

    async def reset(self) -> None:
        self.fakes = self.fakes.emptied()
        self.state.reset()

    def handled(self) -> list[str]:
        return self.handlers.ran


class StdioWire(InProcessWire):
    """The front for one client, a stream for each identity; all over one state."""

    name = "stdio"

    async def _one(self, message: Mapping[str, Any], who: Who) -> dict[str, Any]:
        return await self._spoken(message, who)

    async def batch(self, messages: Sequence[Mapping[str, Any]], who: Who = NOBODY) -> list[dict[str, Any]]:
        return await self._spoken(list(messages), who)

    async def _spoken(self, body: Any, who: Who) -> Any:
        front = StdioFront(self.service, _identity(who), "/mcp")
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "cases", "version": "1"}}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}
        lines = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}, body]
        before = len(self.state.journal)
        said: list[bytes] = []

        async def stream():
            for line in lines:
                yield json.dumps(line).encode() + b"\n"

        async def write(line: bytes) -> None:
            said.append(line)

        await front.serve(stream(), write)
        del self.state.journal[before : before + 2]  # the handshake's
        return json.loads(said[-1])


def _identity(who: Who) -> Identity:
    return Identity(who.test_id, who.context, who.undeclared.strip().lower() if who.undeclared else None)


def _enveloped(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {**body.get("params", {}), "_meta": meta}
    headers = [("mcp-protocol-version", MODERN), ("mcp-method", body["method"])]
    name = params.get("name")
    return {**body, "params": params}, [*headers, *([("mcp-name", name)] if isinstance(name, str) else [])]


def _headers(who: Who) -> list[tuple[str, str]]:
    if who.by != "header":
        return []
    named = {"x-test-id": who.test_id, "x-aimock-context": who.context, "x-aimock-mcp-undeclared": who.undeclared}
    return [(name, value) for name, value in named.items() if value is not None]


def _query(who: Who) -> str:
    if who.by != "query":
        return ""
    named = {"testId": who.test_id, "context": who.context, "undeclared": who.undeclared}
    return "&".join(f"{name}={quote(value)}" for name, value in named.items() if value is not None)
