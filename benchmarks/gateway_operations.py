"""What a client does with a gateway, and what has to come of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from benchmarks.gateway_connections import Connect, Connection, Refused

OBJECT = {"sku": "A-1", "stock": 3, "tags": ["new", None]}
NOTE = "note://shop/opening-hours"


@dataclass(frozen=True)
class Trial:
    """One operation of one client, under a test id of its own."""

    url: str
    test_id: str
    connect: Connect
    speaks: str
    control: httpx2.AsyncClient

    def connected(self) -> AbstractAsyncContextManager[Connection]:
        """The client, with its test id in a header."""
        return self.connect(f"{self.url}/mcp", {"X-Test-Id": self.test_id})

    def connected_by_query(self) -> AbstractAsyncContextManager[Connection]:
        """The client, with its test id in the address."""
        return self.connect(f"{self.url}/mcp?testId={quote(self.test_id)}", {})

    async def load(self) -> None:
        """Load the fakes of this test."""
        answer = await self.control.post(f"{self.url}/__aimock/fixtures", json={"mcpFakes": fakes_of(self.test_id)})
        assert answer.status_code == 200, answer.text

    async def report(self) -> dict[str, Any]:
        """How the gateway says the test went."""
        return (await self.control.get(f"{self.url}/__aimock/report", params={"testId": self.test_id})).json()

    async def sessions(self) -> set[str]:
        """The sessions the client has sent messages in."""
        asked = await self.control.get(f"{self.url}/__aimock/journal", params={"testId": self.test_id})
        return {row["headers"]["mcp-session-id"] for row in asked.json() if "mcp-session-id" in row["headers"]}


def fakes_of(test_id: str) -> dict[str, Any]:
    """The fakes every operation works on."""
    city = {"type": "object", "properties": {"city": {"type": "string"}}}
    return {
        "scope": {"testId": test_id},
        "tools": [
            {
                "name": "get_weather",
                "description": "The weather in a city.",
                "inputSchema": city,
                "calls": [{"id": "oslo", "args": {"city": "Oslo"}, "result": "5 degrees"}],
            },
            {"name": "get_item", "calls": [{"anyArgs": True, "result": OBJECT}]},
            {"name": "pay", "calls": [{"anyArgs": True, "error": "card declined"}]},
        ],
        "resources": [{"uri": NOTE, "name": "hours", "mimeType": "text/plain", "text": "9 to 5"}],
        "prompts": [
            {
                "name": "greet",
                "arguments": [{"name": "who", "required": True}],
                "messages": [{"role": "user", "content": {"type": "text", "text": "Greet {{who}}."}}],
            }
        ],
    }


async def connect(trial: Trial) -> None:
    """The client and the gateway agree on the newest version both speak."""
    async with trial.connected() as client:
        spoken = await client.version()
        assert spoken == trial.speaks, f"spoke {spoken}"


async def list_tools(trial: Trial) -> None:
    """Faked tools are listed."""
    async with trial.connected() as client:
        assert await client.tools() == ["get_weather", "get_item", "pay"]


async def call_text(trial: Trial) -> None:
    """A text comes as it was declared."""
    async with trial.connected() as client:
        answer = await client.call("get_weather", {"city": "Oslo"})
        assert (answer.text, answer.failed) == ("5 degrees", False), answer


async def call_object(trial: Trial) -> None:
    """An object comes as structured content."""
    async with trial.connected() as client:
        answer = await client.call("get_item", {})
        assert (answer.structured, answer.failed) == (OBJECT, False), answer


async def call_error(trial: Trial) -> None:
    """A failure of the tool is a result, and no error of the protocol."""
    async with trial.connected() as client:
        answer = await client.call("pay", {"amount": 5})
        assert (answer.text, answer.failed) == ("card declined", True), answer


async def call_mismatch(trial: Trial) -> None:
    """The client reads what was expected, and where the call differed."""
    async with trial.connected() as client:
        refused = await _refused(client, "get_weather", {"city": "oslo"})
    data = refused.data["aimock"]
    assert (refused.code, data["code"], data["testId"]) == (-32602, "MCP_FAKE_MISMATCH", trial.test_id), refused
    assert data["firstDifference"] == '$.city: expected "Oslo", received "oslo"', data
    assert data["declared"][0]["args"] == {"city": "Oslo"}, data


async def call_exhausted(trial: Trial) -> None:
    """A declared call answers once."""
    async with trial.connected() as client:
        await client.call("get_weather", {"city": "Oslo"})
        refused = await _refused(client, "get_weather", {"city": "Oslo"})
    data = refused.data["aimock"]
    assert (refused.code, data["code"]) == (-31010, "MCP_FAKE_EXHAUSTED"), refused
    assert [one.endswith(":oslo") for one in data["matchingIds"]] == [True], data


async def read_resources(trial: Trial) -> None:
    """Faked resources are listed and read."""
    async with trial.connected() as client:
        assert await client.resources() == [NOTE]
        assert await client.read(NOTE) == "9 to 5"


async def get_prompts(trial: Trial) -> None:
    """Faked prompts are listed and filled in."""
    async with trial.connected() as client:
        assert await client.prompts() == ["greet"]
        text = await client.prompt("greet", {"who": "Ada"})
        assert "Greet Ada." in text, text


async def ping(trial: Trial) -> None:
    """The gateway is there."""
    async with trial.connected() as client:
        await client.ping()


async def one_test_by_header_and_query(trial: Trial) -> None:
    """A test id said in the address is the one said in a header, and the report of it counts both."""
    async with trial.connected_by_query() as client:
        await client.call("get_weather", {"city": "Oslo"})
    async with trial.connected() as client:
        assert (await _refused(client, "get_weather", {"city": "Oslo"})).code == -31010
    report = await trial.report()
    assert [one["tool"] for one in report["served"]] == ["get_weather"], report
    assert [one["outcome"] for one in report["failures"]] == ["exhausted"], report


async def session_end(trial: Trial) -> None:
    """A session is over once its client has left; the stateless protocol has none."""
    async with trial.connected() as client:
        await client.tools()
    sessions = await trial.sessions()
    assert bool(sessions) == (trial.speaks < "2026"), sessions
    for session in sessions:
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        answer = await trial.control.post(f"{trial.url}/mcp", json=message, headers={"mcp-session-id": session})
        assert answer.status_code == 404, answer.text


async def _refused(client: Connection, tool: str, arguments: dict[str, Any]) -> Refused:
    try:
        answer = await client.call(tool, arguments)
    except Refused as refused:
        return refused
    raise AssertionError(f"answered: {answer}")


OPERATIONS: Mapping[str, Callable[[Trial], Awaitable[None]]] = {
    "connect": connect,
    "tools/list": list_tools,
    "text": call_text,
    "object": call_object,
    "error": call_error,
    "mismatch": call_mismatch,
    "exhausted": call_exhausted,
    "resources": read_resources,
    "prompts": get_prompts,
    "ping": ping,
    "test id": one_test_by_header_and_query,
    "session end": session_end,
}
