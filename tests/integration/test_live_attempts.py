"""Live attempts against real MCP servers over stdio and HTTP, recorded and replayed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passgrid.attempt import AttemptResult, run
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import read_cassette, write_cassette
from passgrid.library import load_prompt, load_suite
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.scenario import Scenario

DEMO = Path(__file__).resolve().parents[2] / "scenarios" / "demo"


def live_order(name: str, model: str = "scripted:thorough", **changes: Any) -> AttemptOrder:
    suite = load_suite(DEMO)
    (scenario,) = [one for one in suite.scenarios if one.name == name]
    values: dict[str, Any] = {
        "attempt_id": "3" * 32,
        "scenario": scenario,
        "prompt": load_prompt(suite, "careful"),
        "model": parse_model_reference(model),
        "mode": Mode.LIVE,
        "sample": 0,
        "suite_files": suite.files,
        "suite_folder": DEMO,
        "record": True,
        **changes,
    }
    return AttemptOrder(**values)


def replayed(order: AttemptOrder, result: AttemptResult) -> AttemptOrder:
    """The order that replays what was recorded."""
    assert result.recording is not None
    cassette = read_cassette(write_cassette(result.recording))
    model = parse_model_reference(f"recorded:{cassette.label}")
    return replace(order, mode=Mode.REPLAY, model=model, cassette=cassette, suite_folder=None, record=False)


def children() -> set[str]:
    found = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False).stdout
    return set(found.split())


@pytest.mark.parametrize("name", ["reorder-low", "last-commit", "branch-for-low-article", "two-questions"])
async def test_what_was_recorded_replays_the_same_and_leaves_no_server_behind(name: str) -> None:
    before = children()
    order = live_order(name)
    live = await run(order)
    assert live.outcome.kind is OutcomeKind.PASSED, live.outcome.reason
    assert {call.answered for call in live.tool_calls} == {"live"}
    again = await run(replayed(order, live))
    assert again.outcome.kind is OutcomeKind.PASSED, again.outcome.reason
    assert again.messages == live.messages
    assert again.tools == live.tools
    assert {call.answered for call in again.tool_calls} == {"recorded"}
    assert [check.passed for check in again.checks] == [check.passed for check in live.checks]
    assert children() == before


async def test_errors_of_a_server_are_seen_by_the_agent_and_recorded_as_errors() -> None:
    policies = (
        b"from passgrid import Call, policy\n"
        b"@policy('clumsy')\n"
        b"def clumsy(turn):\n"
        b"    if not turn.results:\n"
        b"        return [Call('get_article', {'sku': 'NONE'}), Call('no_such_tool')]\n"
        b"    return str(turn.results[0])\n"
    )
    files: Mapping[str, bytes] = {**load_suite(DEMO).files, "policies.py": policies}
    order = live_order("count-stock", "scripted:clumsy", suite_files=files)
    live = await run(order)
    assert "[NOT_FOUND] no article NONE" in live.messages[-1]["content"]
    assert [(call.tool, call.answered, call.error) for call in live.tool_calls] == [
        ("get_article", "live", True),
        ("no_such_tool", "library", True),
    ]
    again = await run(replayed(order, live))
    assert again.messages == live.messages
    assert again.outcome == live.outcome


async def test_a_workspace_is_fresh_and_its_changes_are_recorded() -> None:
    order = live_order("switch-branch")
    first, second = await run(order), await run(order)
    assert first.outcome.kind is second.outcome.kind is OutcomeKind.PASSED
    assert first.files is not None
    assert "PRICES.md" in first.files.files
    assert first.files.changed == {}


async def test_a_server_that_cannot_start_is_an_infrastructure_error() -> None:
    broken = Scenario.model_validate(
        {"name": "count-stock", "task": "x", "mcpServers": {"s": {"command": "no-such-cmd"}}}
    )
    result = await run(live_order("count-stock", scenario=broken))
    assert result.outcome.kind is OutcomeKind.INFRA_ERROR
    assert not result.outcome.valid
    assert result.recording is None


SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
from stock import server
server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
"""


@pytest.fixture
def http_server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(DEMO / "servers"), str(port)], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.communicate()


async def test_the_same_server_over_http(http_server: str) -> None:
    order = live_order("cheapest-supplier")
    server = {"url": http_server, "headers": {"Authorization": "Bearer s3cret"}}
    document = order.scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    order = replace(order, scenario=Scenario.model_validate({**document, "mcpServers": {"stock": server}}))
    live = await run(order)
    assert live.outcome.kind is OutcomeKind.PASSED, live.outcome.reason
    assert live.recording is not None
    assert b"s3cret" not in write_cassette(live.recording)
    assert (await run(replayed(order, live))).messages == live.messages


async def test_a_server_gets_a_minimal_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    server = (
        b"import os\nfrom mcp.server.mcpserver import MCPServer\nserver = MCPServer('env')\n"
        b"@server.tool()\ndef names() -> list[str]:\n    return sorted(os.environ)\nserver.run('stdio')\n"
    )
    policies = (
        b"from passgrid import Call, policy\n@policy('ask')\ndef ask(turn):\n"
        b"    return str(turn.results) if turn.results else Call('names')\n"
    )
    files = {"servers/env.py": server, "policies.py": policies}
    scenario = Scenario.model_validate(
        {
            "name": "env",
            "task": "x",
            "mcpServers": {"env": {"command": "python", "args": ["${suite}/servers/env.py"], "env": {"MINE": "1"}}},
        }
    )
    target = tmp_path / "servers" / "env.py"
    target.parent.mkdir()
    target.write_bytes(server)
    result = await run(
        live_order("count-stock", "scripted:ask", scenario=scenario, suite_files=files, suite_folder=tmp_path)
    )
    text = result.messages[-1]["content"]
    assert "MINE" in text
    assert "OPENAI_API_KEY" not in text
