"""The pytest plugin, in sessions of pytest of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest_plugins = ("pytester",)

CLIENT = """
import asyncio, httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

def ask(url, tool, arguments, headers=None):
    async def asked():
        async with (
            httpx2.AsyncClient(headers=headers or {}, timeout=30) as http,
            Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
        ):
            try:
                return (await client.call_tool(tool, arguments)).content[0].text
            except MCPError as error:
                return f"refused: {error.message}"
    return asyncio.run(asked())
"""
WEATHER = {"tools": [{"name": "weather", "calls": [{"id": "oslo", "args": {"city": "Oslo"}, "result": "5 degrees"}]}]}
SHOP = {
    "mcpFakes": [
        {"scope": "shared", "tools": [{"name": "stock", "calls": [{"anyArgs": True, "result": "3"}]}]},
        {"scope": {"testId": "T1"}, "tools": [{"name": "stock", "calls": [{"anyArgs": True, "result": "none"}]}]},
    ]
}


@pytest.fixture
def session(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose tests can ask, and have some fakes."""
    pytester.makepyfile(asking=CLIENT)
    folder = pytester.mkdir("fakes")
    (folder / "shop.json").write_text(json.dumps(SHOP))
    pytester.makepyfile(declared=f"WEATHER = {WEATHER!r}")
    return pytester


def run(session: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    session.makepyfile(f"import pytest\nfrom asking import ask\nfrom declared import WEATHER\n\n{body}")
    without = [f"-pno:{name}" for name in ("cacheprovider", "schemathesis", "hypothesispytest", "asyncio", "anyio")]
    return session.runpytest_subprocess(*without, *options, timeout=120)


def test_fakes_written_in_a_test_answer_it_by_header_and_by_address(session: pytest.Pytester) -> None:
    body = """
def test_weather(passgrid_fakes):
    fakes = passgrid_fakes(WEATHER)
    assert ask(fakes.url(), "weather", {"city": "Oslo"}, fakes.headers) == "5 degrees"
    assert [one["tool"] for one in fakes.report().served] == ["weather"]

@pytest.mark.parametrize("city", ["Zürich / 50 %", "["])
def test_address(passgrid_fakes, city):
    calls = [{"args": {"city": city}, "result": "warm"}]
    fakes = passgrid_fakes({"mount": "/maps", "tools": [{"name": "weather", "calls": calls}]})
    assert ask(fakes.url("/maps", identified=True), "weather", {"city": city}) == "warm"
    assert city in fakes.test_id or "\\\\x" in fakes.test_id
"""
    run(session, body).assert_outcomes(passed=3)


def test_a_test_fails_that_asks_for_less_or_for_something_else(session: pytest.Pytester) -> None:
    body = """
def test_less(passgrid_fakes):
    passgrid_fakes(WEATHER)

def test_else(passgrid_fakes):
    fakes = passgrid_fakes(WEATHER)
    ask(fakes.url(), "weather", {"city": "Oslo"}, fakes.headers)
    assert ask(fakes.url(), "weather", {"city": "oslo"}, fakes.headers).startswith("refused")
"""
    result = run(session, body)
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines_random(["*never asked for: code#1:oslo on /mcp*", "*mismatch: weather on /mcp with*"])


def test_denied_tools_and_contexts_are_told_to_the_gateway(session: pytest.Pytester) -> None:
    body = """
def test_context(passgrid_fakes):
    calls = [{"anyArgs": True, "result": "closed"}]
    block = {"scope": {"context": "night"}, "tools": [{"name": "open", "calls": calls}]}
    by_night = passgrid_fakes(block, context="night")
    by_day = passgrid_fakes(undeclared="deny", context="day")
    assert by_night.test_id == by_day.test_id
    assert "Unknown tool" in ask(by_day.url(), "open", {}, by_day.headers)
    assert ask(by_night.url(), "open", {}, by_night.headers) == "closed"
    assert [one["outcome"] for one in by_day.report().failures] == ["not_declared"]
"""
    result = run(session, body)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*not_declared: open on /mcp*"])


def test_files_keep_their_scopes_and_nothing_reaches_the_next_test(session: pytest.Pytester) -> None:
    body = """
@pytest.mark.parametrize("again", range(2))
def test_file(passgrid_fakes, again):
    fakes = passgrid_fakes("fakes/shop.json")
    assert ask(fakes.url(), "stock", {}, fakes.headers) == "3"
    assert ask(fakes.url(), "stock", {}, {"X-Test-Id": "T1"}) == "none"

def test_shared_fakes_of_a_folder_are_no_duty(passgrid_fakes):
    passgrid_fakes("fakes")

def test_nothing_is_loaded(passgrid_fakes):
    fakes = passgrid_fakes(undeclared="allow")
    assert "Unknown tool" in ask(fakes.url(), "stock", {}, fakes.headers)
"""
    run(session, body).assert_outcomes(passed=4)


def test_workers_side_by_side_do_not_meet(session: pytest.Pytester) -> None:
    body = """
@pytest.mark.parametrize("number", range(6))
def test_number(passgrid_fakes, number):
    fakes = passgrid_fakes({"tools": [{"name": "n", "calls": [{"anyArgs": True, "result": str(number)}]}]})
    assert ask(fakes.url(), "n", {}, fakes.headers) == str(number)
"""
    run(session, body, "-n", "2").assert_outcomes(passed=6)


def test_fakes_that_are_wrong_or_not_there_fail_the_test_with_every_mistake(session: pytest.Pytester) -> None:
    body = """
def test_wrong(passgrid_fakes):
    passgrid_fakes({"tools": [{"name": "n", "calls": [{"args": None, "result": None}]}], "colour": 1})

def test_missing(passgrid_fakes):
    passgrid_fakes("fakes/none.json")
"""
    result = run(session, body)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines_random(
        [
            "*code#1: a block has no key 'colour'*(mcp-fakes/bad-block:h)*",
            "*code#1:n#0: result must not be null (mcp-fakes/bad-block:i)*",
            "*there are no fakes at fakes?none.json: neither*",
        ]
    )


def test_a_session_that_does_not_use_it_imports_nothing_of_it() -> None:
    heavy = ["uvicorn", "pydantic", "jsonschema", "mcp", "orjson"]
    program = f"import sys, passgrid.pytest_plugin\nprint([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"
