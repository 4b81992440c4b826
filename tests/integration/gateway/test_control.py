"""The control API, its journal, metrics and reports, tokens, and what the gateway refuses."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anthropic
import httpx2
import openai
import pytest

from api.gateway.tokens import make_token
from api.stack.addresses import Addresses
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.gateway_loads import open_space
from passgrid.warehouse.gateway_models import turns_of
from tests.integration.gateway.conftest import Served, http_wire
from tests.integration.gateway.gateways import PASSGRID, environment, gateway_process
from tests.integration.gateway.wires import MODERN, HttpWire, Who

ONE: dict[str, Any] = {"anyArgs": True, "result": "one"}
REQUEST_SECONDS = 2.0
"""How long the guarded gateway waits for a request."""


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


@pytest.fixture
async def modern(served: Served, client: httpx2.AsyncClient) -> HttpWire:
    """HTTP in the version without sessions, with nothing loaded."""
    made = http_wire(served, client, MODERN)
    await made.reset()
    return made


@pytest.mark.parametrize(("test", "unfaked"), [("anew", 0), (None, 1)])
async def test_a_report_begins_anew_with_every_reset_and_the_journal_keeps_all(
    modern: HttpWire, test: str | None, unfaked: int
) -> None:
    asked = {"testId": test or "__default__"}
    fakes = block("t", ONE, {"args": {"a": 1}, "result": "two"}, scope={"testId": test} if test else "shared")

    async def report() -> tuple[bool, int, list[str], int]:
        found = (await modern.client.get(f"{modern.url}/__aimock/report", params=asked)).json()
        return found["ok"], len(found["served"]), [one["outcome"] for one in found["failures"]], len(found["unfaked"])

    async def end_test() -> None:
        ended = await modern.client.delete(f"{modern.url}/__aimock/test", params=asked)
        assert ended.json() == {"ended": asked["testId"]}

    await modern.load(fakes)
    kept = len(await modern.journal(asked["testId"]))
    for round_ in range(4):
        for tool in ["t"] * 3 + ["plain_tool"] * unfaked:
            await modern.call(tool, {"a": 1}, Who(test))
        assert await report() == (False, 2, ["exhausted"], unfaked)
        if round_ % 2:
            await end_test()
        else:
            await modern.reset()
            assert await report() == (True, 0, [], 0)
            await modern.load(fakes)
        assert await report() == (False, 0, [], 0)
        assert len(await modern.journal(asked["testId"])) == kept + (3 + unfaked) * (round_ + 1)


async def test_a_reset_of_one_test_leaves_what_another_used_up(modern: HttpWire) -> None:
    await modern.load(block("t", ONE))
    for test in ("mine", "other"):
        await modern.call("t", {}, Who(test))
    await modern.client.delete(f"{modern.url}/__aimock/test", params={"testId": "mine"})
    for test, served in (("mine", 0), ("other", 1)):
        report = (await modern.client.get(f"{modern.url}/__aimock/report", params={"testId": test})).json()
        assert len(report["served"]) == served
    assert "result" in await modern.call("t", {}, Who("mine"))
    assert "error" in await modern.call("t", {}, Who("other"))
    nobody = await modern.client.delete(f"{modern.url}/__aimock/test")
    assert nobody.status_code == 400


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


async def test_model_turns_with_mistakes_are_refused_with_all_of_them_and_nothing_is_added(modern: HttpWire) -> None:
    fine = {"match": {}, "response": {"content": "said"}}
    bad: list[Any] = [
        {"match": {"userMessage": 7}, "response": {"content": "x"}},
        fine,
        "no object",
        {"match": {}, "response": {"content": "x", "shout": True}},
        {"match": {}},
    ]

    async def refused(document: dict[str, Any]) -> list[tuple[str, str]]:
        answer = await modern.client.post(f"{modern.url}/__aimock/fixtures", json=document)
        assert (answer.status_code, answer.json()["error"]) == (400, "nothing was added")
        return [(one["name"], one["entryId"] or one["blockId"]) for one in answer.json()["details"]]

    places = ("[0].match.userMessage", "[2]", "[3].response.shout", "[4].response")
    assert await refused({"fixtures": bad, "mcpFakes": block("t", ONE)}) == [
        ("fixtures/bad-fixture", f"control-api: fixtures{place}") for place in places
    ]
    found = await refused({"fixtures": [fine], "mcpFakes": {"scope": "nobody", "tools": []}})
    assert {name for name, _ in found} == {"mcp-fakes/bad-block"}
    answer = await modern.client.post(f"{modern.url}/__aimock/fixtures", json={"fixtures": fine})
    assert (answer.status_code, answer.json()) == (400, {"error": "fixtures must be an array"})
    assert (await modern.client.get(f"{modern.url}/__aimock/mcp/fakes")).json() == {"fakes": []}
    asked = {"model": "any", "messages": [{"role": "user", "content": "Say."}]}
    said = await modern.client.post(f"{modern.url}/v1/chat/completions", json=asked)
    assert (said.status_code, said.json()["error"]["code"]) == (400, "replay_miss")


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
    options = ("--require-token", "--space", "guarded")
    with gateway_process(bare_stack, gateway_database, *options, request_seconds=REQUEST_SECONDS) as (url, _):
        yield url


def _token(stack: Addresses, database: str, *arguments: str) -> dict[str, str]:
    command = [PASSGRID, "gateway", "token", *arguments, "--space", "guarded"]
    made = subprocess.run(command, env=environment(stack, database), capture_output=True, text=True, check=True)
    return {"Authorization": f"Bearer {made.stdout.strip()}"}


@pytest.fixture(scope="module")
def key(gateway_database: str, guarded: str) -> bytes:
    """What the tokens of the guarded gateway are signed with."""
    engine = make_engine(gateway_database)
    with engine.connect() as connection:
        found = open_space(connection, "guarded")
    engine.dispose()
    return found


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


TWICE = [
    {"match": {"sequenceIndex": n, "userMessage": "Count"}, "response": {"content": said}}
    for n, said in enumerate(("first", "second"))
]
QUESTION = "Count."


def chat_says(url: str, token: str, **headers: str) -> str | None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0, default_headers=headers)
    answer = client.chat.completions.create(model="any", messages=[{"role": "user", "content": QUESTION}])
    return answer.choices[0].message.content


def messages_say(url: str, token: str, **query: str) -> str:
    client = anthropic.Anthropic(base_url=url, api_key=token, max_retries=0, default_query=query)
    asked: anthropic.types.MessageParam = {"role": "user", "content": QUESTION}
    return client.messages.create(model="any", max_tokens=100, messages=[asked]).content[0].model_dump()["text"]


def test_a_model_call_with_a_token_is_of_the_test_it_stands_for_whatever_else_it_names(
    gateway_database: str, guarded: str, key: bytes
) -> None:
    everything = {"x-passgrid-token": make_token(key, None)}
    loaded = httpx2.post(f"{guarded}/__aimock/fixtures", json={"fixtures": TWICE}, headers=everything)
    assert loaded.json()["added"] == 2
    mine = make_token(key, "Käufer 100%")
    assert chat_says(guarded, mine, **{"X-Test-Id": "other"}) == "first"
    assert messages_say(guarded, mine, testId="other") == "second"
    assert chat_says(guarded, make_token(key, "other")) == "first"
    assert chat_says(guarded, make_token(key, None), **{"X-Test-Id": "named"}) == "first"
    engine = make_engine(gateway_database)
    with engine.connect() as connection:
        counts = {test: len(turns_of(connection, "guarded", test)) for test in ("Käufer 100%", "other", "named", None)}
    engine.dispose()
    assert counts == {"Käufer 100%": 2, "other": 1, "named": 1, None: 0}


def test_a_model_call_without_a_token_is_refused_as_its_client_understands(guarded: str, key: bytes) -> None:
    for token in ("sk-of-somebody", make_token(b"another key", "mine")):
        with pytest.raises(openai.AuthenticationError, match="no token of this gateway") as refused:
            chat_says(guarded, token)
        assert refused.value.type == "authentication_error"
        with pytest.raises(anthropic.AuthenticationError, match="no token of this gateway") as told:
            messages_say(guarded, token)
        assert told.value.type == "authentication_error"
    for path in ("/v1/chat/completions", "/chat/completions", "/v1/messages", "/v1/responses", "/v1/models"):
        bare = httpx2.post(f"{guarded}{path}", json={}, headers={"x-test-id": "mine"})
        assert (bare.status_code, bare.headers["www-authenticate"]) == (401, "Bearer")
        assert "a token is needed" in bare.json()["error"]["message"]


def test_a_model_call_that_names_two_tests_is_refused_in_the_form_of_its_api(guarded: str, key: bytes) -> None:
    twice = [("x-passgrid-token", make_token(key, "mine")), ("x-test-id", "a"), ("x-test-id", "b")]
    for path in ("/v1/messages", "/v1/responses"):
        answer = httpx2.post(f"{guarded}{path}", json={}, headers=twice)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "MCP_DUPLICATE_IDENTITY")


def test_connections_that_send_no_whole_request_are_closed_and_hold_nobody_else(guarded: str) -> None:
    name, _, port = urlsplit(guarded).netloc.partition(":")
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n"
    with contextlib.ExitStack() as held:
        started = time.monotonic()
        connections = [held.enter_context(socket.create_connection((name, int(port)), timeout=30)) for _ in range(90)]
        for one, begun in zip(connections, itertools.cycle((b"", head, head + b"\r\n{")), strict=False):
            one.sendall(begun)
        while time.monotonic() - started < REQUEST_SECONDS / 2:
            assert httpx2.get(f"{guarded}/health", timeout=1).json() == {"status": "ok"}
        for one in connections:
            with contextlib.suppress(ConnectionResetError):
                assert one.recv(1) == b""
        assert REQUEST_SECONDS / 2 < time.monotonic() - started < REQUEST_SECONDS + 10


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
