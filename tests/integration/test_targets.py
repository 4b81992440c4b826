"""The same scenario on servers that are constructed in other ways: a command, in-process, hosted, behind a login."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passgrid.attempt import AttemptResult, run
from passgrid.attempt_order import AttemptOrder
from passgrid.library import load_suite
from passgrid.matrix import Mode
from passgrid.outcome import OutcomeKind
from passgrid.target import Target, on_target
from passgrid.tools.token_file import login_of
from tests.acceptance.commands import Installation
from tests.unit.passgrid.suites import COUNTING, TOOLS, answer, ask, cassette, replay_order, say, scenario, write_suite

MAKE = """
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

def make():
    server = MCPServer("stock")
    counted = []

    @server.tool(annotations=ToolAnnotations(read_only_hint={reads}))
    def count(item: str) -> int:
        counted.append(item)
        return 4 + len(counted)

    return server
"""
COMMAND = "\nif __name__ == '__main__':\n    import sys\n    {run}\n"
STDIO = COMMAND.format(run="make().run('stdio')")
HTTP = COMMAND.format(run="make().run('streamable-http', host='127.0.0.1', port=int(sys.argv[1]))")


def server_file(tail: str = STDIO, *, reads: bool = True) -> str:
    return MAKE.format(reads=reads) + tail


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = write_suite(tmp_path)
    (folder / "servers").mkdir()
    (folder / "servers" / "stock.py").write_text(server_file())
    return folder


def drift_order(suite: Path, server: dict[str, Any], **target: Any) -> AttemptOrder:
    declared = Target.model_validate({"mcpServers": {"stock": server}, **target})
    files = load_suite(suite).files
    return replay_order(of=on_target(scenario(), declared), mode=Mode.DRIFT, suite_files=files, suite_folder=suite)


def equal(result: AttemptResult) -> tuple[int, int]:
    assert result.drift is not None, result.outcome
    return sum(one.equal for one in result.drift.tools), sum(one.compared for one in result.drift.tools)


@contextmanager
def listening(*command: str | Path) -> Generator[int]:
    """A server on a free port, which stands where the command says `PORT`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    words = [str(port) if word == "PORT" else str(word) for word in command]
    process = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.05)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize(
    "server",
    [{"python": "servers/stock.py:make"}, {"command": "python", "args": ["${suite}/servers/stock.py"]}],
    ids=["in-process", "command"],
)
async def test_each_attempt_gets_a_fresh_server(suite: Path, server: dict[str, Any]) -> None:
    order = drift_order(suite, server)
    for _ in range(2):
        result = await run(order)
        assert result.outcome.kind is OutcomeKind.PASSED, result.outcome
        assert equal(result) == (1, 1)


async def test_an_answer_that_changed_breaks_nothing_off_and_is_found(suite: Path) -> None:
    steps = [COUNTING[0], ask("count", {"item": "bolts"}), answer({"n": 5}), say("there are 5")]
    order = replace(drift_order(suite, {"python": "servers/stock.py:make"}), cassette=cassette(steps))
    result = await run(order)
    assert result.outcome.kind is OutcomeKind.PASSED
    assert result.drift is not None
    (found,) = [one for one in result.drift.findings if one.part == "result"]
    assert (found.change, found.severity, found.recorded, found.live) == (
        "is number instead of object", "breaking", {"n": 5}, 5,
    )  # fmt: skip


async def test_a_tool_the_server_lacks_is_answered_from_the_recording_and_reported(suite: Path) -> None:
    tools = [*TOOLS, {"server": "stock", "name": "think", "inputSchema": {"type": "object"}}]
    steps = [COUNTING[0], ask("think", {"thought": "hm"}), answer(""), *COUNTING[1:]]
    order = drift_order(suite, {"python": "servers/stock.py:make"})
    result = await run(replace(order, cassette=cassette(steps, tools=tools)))
    assert result.outcome.kind is OutcomeKind.PASSED, result.outcome
    assert [(call.tool, call.answered) for call in result.tool_calls] == [("think", "recorded"), ("count", "live")]
    assert result.drift is not None
    assert [(one.tool, one.calls, one.compared, one.missing) for one in result.drift.tools] == [
        ("think", 1, 0, True),
        ("count", 1, 1, False),
    ]
    missing = [one for one in result.drift.findings if one.tool == "think"]
    assert [(one.part, one.change, one.severity) for one in missing] == [
        ("surface", "the server lacks this tool", "breaking")
    ]


async def test_a_factory_that_makes_no_server_is_an_error_of_the_suite(suite: Path) -> None:
    (suite / "servers" / "stock.py").write_text("def make():\n    return 7\n")
    result = await run(drift_order(suite, {"python": "servers/stock.py:make"}))
    assert (result.outcome.kind, result.outcome.detail) == (OutcomeKind.INFRA_ERROR, "suite_code")
    assert "returned a int" in result.outcome.reason


@pytest.mark.parametrize(
    ("reads", "target", "refused"),
    [(False, {}, True), (False, {"dedicated": True}, False), (True, {}, False)],
    ids=["writing", "writing-and-dedicated", "reading"],
)
async def test_a_hosted_server_that_may_write_has_to_be_dedicated(
    suite: Path, reads: bool, target: dict[str, Any], refused: bool
) -> None:
    file = suite / "servers" / "stock.py"
    file.write_text(server_file(HTTP, reads=reads))
    with listening(file, "PORT") as port:
        result = await run(drift_order(suite, {"url": f"http://127.0.0.1:{port}/mcp"}, **target))
    if refused:
        assert (result.outcome.detail, result.tool_calls) == ("not_dedicated", ())
        assert "count may write there" in result.outcome.reason
        assert "dedicated: true" in result.outcome.reason
    else:
        assert result.outcome.kind is OutcomeKind.PASSED, result.outcome


def log_in(installation: Installation, suite: Path) -> None:
    """`passgrid login`, and the person who opens the address it prints."""
    process = installation.start("passgrid", "login", suite, "--target", "hosted", "--no-browser")
    assert process.stderr is not None
    url = next(line.strip() for line in process.stderr if line.strip().startswith("http"))
    with urllib.request.urlopen(url, timeout=10) as page:
        assert b"Logged in" in page.read()
    assert process.wait(timeout=30) == 0, process.stderr.read()


async def test_workers_use_and_renew_a_login_that_only_its_owner_can_read(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("PASSGRID_HOME", str(home))
    with listening("-m", "tests.integration.oauth_server", "PORT", "33") as port:
        url = f"http://127.0.0.1:{port}/mcp"
        servers = f"      stock: {{url: '{url}', oauth: {{}}}}\n"
        (suite / "suite.yaml").write_text(f"prompt: plain\ntargets:\n  hosted:\n    mcpServers:\n{servers}")
        order = drift_order(suite, {"url": url, "oauth": {}})
        before = await run(order)
        assert (before.outcome.kind, before.outcome.detail) == (OutcomeKind.INFRA_ERROR, "not_logged_in")
        assert "passgrid login" in before.outcome.reason
        log_in(Installation(home), suite)
        (file,) = (home / "logins").glob("*.json")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        hosted = order.scenario.mcp_servers["stock"]
        first = login_of(hosted).secrets()  # type: ignore[arg-type]
        result = await run(order)
        assert result.outcome.kind is OutcomeKind.PASSED, result.outcome
        time.sleep(3.5)  # noqa: ASYNC251 - tokens of 33 seconds are renewed 30 seconds early
        assert (await run(order)).outcome.kind is OutcomeKind.PASSED
        second = login_of(hosted).secrets()  # type: ignore[arg-type]
        assert first.isdisjoint(second)
        assert not any(secret in repr(result) for secret in first | second)
    assert os.listdir(home / "logins")
