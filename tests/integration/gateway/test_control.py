"""The control API, its journal, metrics and reports, tokens, and what the gateway refuses."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from api.stack.addresses import Addresses
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.gateways import PASSGRID, environment, gateway_process
from tests.integration.gateway.wires import HttpWire, Who

ONE: dict[str, Any] = {"anyArgs": True, "result": "one"}


def block(name: str, *calls: dict[str, Any], scope: Any = "shared", **more: Any) -> dict[str, Any]:
    return {"scope": scope, "tools": [{"name": name, "calls": list(calls)}], **more}


async def test_every_message_is_in_the_journal_with_what_came_of_it_and_without_secrets(http: HttpWire) -> None:
    await http.load(block("t", {"id": "x", **ONE}))
    test = f"journal {http.version}"
    secret = {"authorization": "Bearer very-secret", "x-api-key": "another-secret"}
    await http.post(
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "t", "arguments": {"a": "\0"}}},
        Who(test, "C"),
        headers=list(secret.items()),
    )
    (entry,) = (await http.client.get(f"{http.url}/__aimock/journal", params={"testId": test})).json()
    assert (entry["method"], entry["path"], entry["testId"], entry["context"]) == ("POST", "/mcp", test, "C")
    assert entry["body"]["params"]["arguments"] == {"a": "\0"}
    assert entry["response"]["status"] == 200
    assert entry["response"]["mcpFake"]["outcome"] == "answered"
    assert entry["response"]["mcpFake"]["id"].endswith(":x")
    assert "secret" not in json.dumps(entry)


async def test_a_message_without_a_test_is_under_the_default_one(http: HttpWire) -> None:
    await http.load(block("t", ONE))
    await http.call("t")
    entries = (await http.client.get(f"{http.url}/__aimock/journal", params={"testId": "__default__"})).json()
    assert entries[-1]["testId"] == "__default__"


async def test_what_is_loaded_is_told_by_mount_test_and_context(http: HttpWire) -> None:
    await http.load(
        block("mine", ONE, scope={"testId": "T"}), block("theirs", ONE, scope={"testId": "U"}, mount="/other")
    )
    await http.call("mine", who=Who("T"))

    async def fakes(**params: str) -> httpx2.Response:
        return await http.client.get(f"{http.url}/__aimock/mcp/fakes", params=params)

    (found,) = (await fakes(testId="T")).json()["fakes"]
    assert found["mount"] == "/mcp"
    assert found["scope"] == {"testId": "T"}
    assert [call["consumed"] for call in found["tools"][0]["calls"]] == [True]
    assert len((await fakes()).json()["fakes"]) == 2
    assert (await fakes(mount="/nowhere")).status_code == 404
    assert (await fakes(tset="T")).status_code == 400


async def test_a_report_is_in_order_where_all_was_asked_for_and_nothing_refused(http: HttpWire) -> None:
    test = f"report {http.version}"
    await http.load(block("t", ONE, {"args": {"a": 1}, "result": "two"}, scope={"testId": test}))

    async def report() -> dict[str, Any]:
        return (await http.client.get(f"{http.url}/__aimock/report", params={"testId": test})).json()

    assert [one["left"] for one in (await report())["unconsumed"]] == [1, 1]
    await http.call("t", {"a": 1}, Who(test))
    await http.call("t", {"a": 1}, Who(test))
    found = await report()
    assert (found["ok"], len(found["served"]), found["failures"]) == (True, 2, [])
    await http.call("plain_tool", {}, Who(test))
    assert [(one["tool"], one["answered"]) for one in (await report())["unfaked"]] == [("plain_tool", "live")]
    await http.call("t", {}, Who(test))
    found = await report()
    assert found["ok"] is False
    assert [(one["tool"], one["outcome"]) for one in found["failures"]] == [("t", "exhausted")]


async def test_a_reset_forgets_fakes_and_keeps_sessions(http: HttpWire) -> None:
    await http.load(block("t", ONE))
    await http.call("t")
    await http.reset()
    answer = await http.call("t")
    assert "Unknown tool: t" in json.dumps(answer)  # as the live server behind the fakes says it
    await http.load(block("t", ONE))
    assert "result" in await http.call("t")


async def test_refused_calls_are_counted_by_reason(http: HttpWire) -> None:
    await http.load(block("t", {"args": {}, "result": "x"}))
    before = await _count(http, "MCP_FAKE_MISMATCH")
    await http.call("t", {"a": 1})
    assert await _count(http, "MCP_FAKE_MISMATCH") == before + 1


async def _count(http: HttpWire, code: str) -> float:
    text = (await http.client.get(f"{http.url}/metrics")).text
    line = next(one for one in text.splitlines() if one.startswith("passgrid_mcp_fake_failures_total") and code in one)
    return float(line.rpartition(" ")[2])


async def test_a_mount_takes_posts_and_deletes_and_pages_of_other_hosts_are_refused(http: HttpWire) -> None:
    got = await http.client.get(f"{http.url}/mcp")
    assert (got.status_code, got.headers["allow"]) == (405, "POST, DELETE")
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}):
        assert (await http.client.post(f"{http.url}/mcp", content=b"{}", headers=headers)).status_code == 403
    assert (await http.client.post(f"{http.url}/mcp", content=b"x" * 9_000_000)).status_code == 413


def test_a_client_that_never_ends_its_request_holds_nobody_else(served: Served) -> None:
    name, _, port = urlsplit(served.url).netloc.partition(":")
    idle = [socket.create_connection((name, int(port))) for _ in range(600)]
    for one in idle:
        one.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
    try:
        started = time.monotonic()
        assert httpx2.get(f"{served.url}/health").json() == {"status": "ok"}
        assert time.monotonic() - started < 5
    finally:
        for one in idle:
            one.close()


@pytest.fixture(scope="module")
def guarded(bare_stack: Addresses, gateway_database: str) -> Iterator[str]:
    """A gateway that answers nobody without a token."""
    with gateway_process(bare_stack, gateway_database, "--require-token", "--space", "guarded") as (url, _):
        yield url


def _token(stack: Addresses, database: str, *arguments: str) -> dict[str, str]:
    command = [PASSGRID, "gateway", "token", *arguments, "--space", "guarded"]
    made = subprocess.run(command, env=environment(stack, database), capture_output=True, text=True, check=True)
    return {"Authorization": f"Bearer {made.stdout.strip()}"}


def test_a_token_speaks_for_its_test_and_nobody_is_answered_without_one(
    bare_stack: Addresses, gateway_database: str, guarded: str
) -> None:
    everything = _token(bare_stack, gateway_database, "--everything")
    mine = _token(bare_stack, gateway_database, "mine")
    fakes = {"mcpFakes": block("t", ONE, scope={"testId": "mine"})}
    assert httpx2.post(f"{guarded}/__aimock/fixtures", json=fakes).status_code == 401
    assert httpx2.post(f"{guarded}/__aimock/fixtures", json=fakes, headers=mine).status_code == 403
    assert httpx2.post(f"{guarded}/__aimock/fixtures", json=fakes, headers=everything).json()["mcpFakesAdded"] == 1
    journal = f"{guarded}/__aimock/journal"
    assert httpx2.get(journal, headers=mine, params={"testId": "other"}).status_code == 403
    assert httpx2.get(journal, headers=mine).status_code == 200
    forged = {"Authorization": mine["Authorization"][:-1] + "x"}
    assert httpx2.get(journal, headers=forged).status_code == 401
    assert httpx2.get(f"{guarded}/health").status_code == 200


def test_a_front_for_one_client_says_what_was_never_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "fakes.json"
    file.write_text(json.dumps({"mcpFakes": block("t", ONE, ONE, scope={"testId": "T"})}))
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "sh", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    command = [PASSGRID, "gateway", "stdio", str(file), "--test-id", "T", "--report", str(tmp_path / "report.json")]
    ended = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert answers[1]["result"]["content"][0]["text"] == "one"
    assert ended.returncode == 1
    assert "never asked for" in ended.stderr
    assert json.loads((tmp_path / "report.json").read_text())["ok"] is False


def test_files_are_loaded_again_when_they_change_whole_or_not_at_all(
    bare_stack: Addresses, gateway_database: str, tmp_path: Path
) -> None:
    file = tmp_path / "watched.json"
    file.write_text(json.dumps({"mcpFakes": block("first", ONE)}))
    with gateway_process(bare_stack, gateway_database, str(tmp_path), "--space", "watched") as (url, _):
        assert _tools(url) == ["first"]
        file.write_text(json.dumps({"mcpFakes": [block("second", ONE), {"scope": "nobody"}]}))
        time.sleep(2.5)
        assert _tools(url) == ["first"]
        file.write_text(json.dumps({"mcpFakes": [block("second", ONE), block("third", ONE)]}))
        deadline = time.monotonic() + 15
        while _tools(url) != ["second", "third"]:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def _tools(url: str) -> list[str]:
    found = httpx2.get(f"{url}/__aimock/mcp/fakes").json()["fakes"]
    return [tool["name"] for one in found for tool in one["tools"]]


def test_a_file_that_cannot_be_loaded_ends_the_gateway_with_every_mistake(
    bare_stack: Addresses, gateway_database: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text('{"mcpFakes": {"tools": []}}')
    (tmp_path / "b.json").write_text("{")
    command = [PASSGRID, "gateway", "serve", str(tmp_path), "--space", "broken"]
    env = environment(bare_stack, gateway_database)
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2
    assert "scope is missing" in ended.stderr
    assert "b.json" in ended.stderr
