"""Recordings behind a gateway: of tools, of the model, and made by it; shared by its processes."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from api.stack.addresses import Addresses
from passgrid.cassettes.format import read_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import resolve
from tests.integration.gateway.gateways import PASSGRID, environment, gateway_process
from tests.integration.gateway.wires import HttpWire, Who
from tests.unit.passgrid.suites import COUNTING, SYSTEM, answer, ask, cassette, say, write_suite

PRICES = (
    {"user": "Raise it."},
    ask("price", {"of": "bolt"}, "c1"),
    answer(3),
    ask("set_price", {"of": "bolt", "to": 4}, "c2"),
    answer("done"),
    ask("price", {"of": "bolt"}, "c3"),
    answer(4),
    say("raised"),
)
TOOLS = [
    {"server": "stock", "name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": reads}}
    for name, reads in (("price", True), ("set_price", False))
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a recording of each kind."""
    recorded = [cassette(COUNTING), cassette(PRICES, scenario="raise", tools=TOOLS)]
    scenarios: dict[str, Any] = {"count": {"task": "How many bolts?"}, "raise": {"task": "Raise it."}}
    return write_suite(tmp_path_factory.mktemp("library"), scenarios, recorded)


@pytest.fixture(scope="module")
def pair(bare_stack: Addresses, gateway_database: str, suite: Path) -> Iterator[list[str]]:
    """Two gateways over the same recordings."""
    options = ("--recordings", f"{suite}/raise:gpt", "--space", "pair")
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(gateway_process(bare_stack, gateway_database, *options))[0] for _ in range(2)]


async def test_a_session_over_two_gateways_is_in_one_state(pair: list[str], client: httpx2.AsyncClient) -> None:
    one, other = (HttpWire("", url, "2025-11-25", Path(), client) for url in pair)
    who = Who("a session")

    async def price(wire: HttpWire) -> str:
        return (await wire.call("price", {"of": "bolt"}, who))["result"]["content"][0]["text"]

    assert [await price(one), await price(other)] == ["3", "3"]
    assert "result" in await other.call("set_price", {"of": "bolt", "to": 4}, who)
    assert [await price(one), await price(other)] == ["4", "4"]
    missed = await one.call("price", {"of": "nut"}, who)
    assert missed["error"]["data"] == {"passgrid": {"code": "REPLAY_MISS"}}
    assert "price" in missed["error"]["message"]
    fresh = await one.call("price", {"of": "bolt"}, Who("another"))
    assert fresh["result"]["content"][0]["text"] == "3"


async def test_fakes_answer_before_recordings(pair: list[str], client: httpx2.AsyncClient) -> None:
    wire = HttpWire("", pair[0], "2026-07-28", Path(), client)
    calls = [{"anyArgs": True, "result": "faked"}]
    await wire.load({"scope": {"testId": "mixed"}, "tools": [{"name": "price", "calls": calls}]})
    who = Who("mixed")
    assert (await wire.call("price", {}, who))["result"]["content"][0]["text"] == "faked"
    assert "result" in await wire.call("set_price", {"of": "bolt", "to": 4}, who)
    rows = (await client.get(f"{pair[1]}/__aimock/report", params={"testId": "mixed"})).json()
    assert [one["answered"] for one in rows["unfaked"]] == ["recorded"]


def test_a_session_with_its_model_becomes_a_cassette_that_replays(
    bare_stack: Addresses, gateway_database: str, suite: Path
) -> None:
    """A client in another process: its model is recorded, its tool is faked, and all of it is in one file."""
    fakes = {"scope": {"testId": "R"}, "tools": [{"name": "count", "calls": [{"anyArgs": True, "result": "5"}]}]}
    options = ("--recordings", f"{suite}/count:gpt", "--space", "recording")
    with gateway_process(bare_stack, gateway_database, *options) as (url, _):
        httpx2.post(f"{url}/__aimock/fixtures", json={"mcpFakes": fakes}, timeout=60)
        messages = _converse(url)
    assert messages[-1]["content"] == "there are 5"
    record = ["gateway", "record", "R", "--suite", str(suite), "--scenario", "count", "--label", "wire"]
    command = [PASSGRID, *record, "--space", "recording"]
    made = subprocess.run(command, env=environment(bare_stack, gateway_database), capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    path = Path(made.stdout.strip())
    written = resolve(read_cassette(path.read_bytes()), CassetteFolder(suite).payload)
    assert [next(iter(step)) for step in written.steps] == ["user", "model", "calls", "model"]
    assert written.system == SYSTEM
    assert written.steps[2]["calls"][0] == {"call": 0, "server": "mcp", "result": "5"}
    assert [tool["name"] for tool in written.tools] == ["count"]
    again = ("--recordings", f"{suite}/count:wire", "--space", "again")
    with gateway_process(bare_stack, gateway_database, *again) as (url, _):
        # Ids of calls are numbered in a recording; all that is said is the same.
        assert [one["content"] for one in _converse(url)] == [one["content"] for one in messages]


def _converse(url: str) -> list[Any]:
    """A small agent: the openai package for its model, MCP over HTTP for its tool."""
    model = openai.OpenAI(base_url=f"{url}/v1", api_key="none", default_headers={"X-Test-Id": "R"})
    tools: Any = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}}]
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "How many bolts?"},
    ]
    while True:
        turn = model.chat.completions.create(model="any", messages=messages, tools=tools).choices[0].message
        said: dict[str, Any] = {"role": "assistant", "content": turn.content}
        if turn.tool_calls:
            said["tool_calls"] = [call.model_dump(include={"id", "type", "function"}) for call in turn.tool_calls]
        messages.append(said)
        if not turn.tool_calls:
            return messages
        for call in said["tool_calls"]:
            asked = call["function"]
            result = _call(url, asked["name"], json.loads(asked["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def _call(url: str, name: str, arguments: Any) -> str:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name, "x-test-id": "R"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return httpx2.post(f"{url}/mcp", json=body, headers=headers, timeout=60).json()["result"]["content"][0]["text"]
