"""Fakes of a scenario answer before recordings and servers; what they refuse decides the attempt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passgrid.attempt import AttemptResult, run
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.plan import make_plan
from passgrid.problems import InvalidInput
from passgrid.request import Request
from passgrid.scenario import Scenario
from tests.unit.passgrid.suites import replay_order, scenario, write_suite
from tests.unit.passgrid.test_sandbox import POLICIES, PRICES

SHOP = {"shop": {"faked": True}}


def fakes(*tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"mcpFakes": {"scope": "shared", "tools": list(tools), **more}}


def tool(name: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "calls": list(calls)}


async def attempt(*calls: tuple[str, dict[str, Any]], of: Scenario, **changes: Any) -> AttemptResult:
    values: dict[str, Any] = {
        "mode": Mode.SANDBOX,
        "model": parse_model_reference("scripted:asks"),
        "suite_files": {"policies.py": POLICIES},
        "of": of.model_copy(update={"task": repr(list(calls))}),
        **changes,
    }
    return await run(replace(replay_order(**values), cassette=None))


async def test_a_server_that_is_only_faked_needs_no_recording_and_no_program() -> None:
    stock = tool("count", {"args": {"item": "bolts"}, "result": {"left": 5}})
    result = await attempt(("count", {"item": "bolts"}), of=scenario(mcpServers=SHOP, fakes=[fakes(stock)]))
    assert result.outcome.kind is OutcomeKind.PASSED
    (call,) = result.tool_calls
    assert (call.server, call.answered, call.result, call.error) == ("shop", "faked", {"left": 5}, False)
    assert [one["name"] for one in result.tools] == ["count"]


async def test_an_agent_that_swallows_a_refused_call_does_not_pass() -> None:
    stock = tool("count", {"args": {"item": "bolts"}, "result": 5 * "x"})
    result = await attempt(("count", {"item": "nuts"}), of=scenario(mcpServers=SHOP, fakes=[fakes(stock)]))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert '$.item: expected "bolts", received "nuts"' in result.outcome.reason
    assert [(one.answered, one.error) for one in result.tool_calls] == [("missed", True)]


async def test_an_error_that_was_declared_is_the_agents_to_deal_with() -> None:
    down = tool("count", {"anyArgs": True, "error": "timed out"})
    result = await attempt(("count", {}), of=scenario(mcpServers=SHOP, fakes=[fakes(down)]))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [(one.answered, one.error_text) for one in result.tool_calls] == [("faked", "timed out")]


async def test_what_is_not_declared_goes_on_to_the_recording() -> None:
    declared = tool("set_price", {"anyArgs": True, "result": "faked"})
    of = scenario(mcpServers={"stock": {"command": "unused"}}, fakes=[fakes(declared)])
    calls = ("set_price", {"of": "bolt", "to": 4}), ("price", {"of": "bolt"})
    result = await attempt(*calls, of=of, recordings=(PRICES,))
    found = [(one.tool, one.answered) for one in result.tool_calls]
    assert ("set_price", "faked") in found
    assert ("price", "recorded") in found or ("price", "recorded_state") in found


async def test_each_attempt_begins_with_nothing_used_up() -> None:
    once = tool("count", {"anyArgs": True, "result": "once"})
    of = scenario(mcpServers=SHOP, fakes=[fakes(once)])
    for _ in range(2):
        assert (await attempt(("count", {}), of=of)).outcome.kind is OutcomeKind.PASSED
    twice = await attempt(("count", {}), ("count", {}), of=of)
    assert twice.outcome.kind is OutcomeKind.FAILED


async def test_blocks_of_other_scenarios_are_not_for_this_one() -> None:
    mine = {"scope": {"context": "count"}, "tools": [tool("count", {"anyArgs": True, "result": "mine"})]}
    other = {"scope": {"context": "other"}, "tools": [tool("hidden", {"anyArgs": True, "result": "other's"})]}
    of = scenario(mcpServers=SHOP, fakes=[{"mcpFakes": [mine, other]}])
    result = await attempt(("count", {}), of=of)
    assert [one.result for one in result.tool_calls] == ["mine"]
    assert [one["name"] for one in result.tools] == ["count"]


def test_files_of_fakes_are_read_with_the_suite_and_are_part_of_what_an_attempt_is(tmp_path: Path) -> None:
    document = {"task": "[]", "mcpServers": SHOP, "fakes": ["shop.json"]}
    suite = write_suite(tmp_path, {"faked": document})
    (suite / "policies.py").write_bytes(POLICIES)

    def cell_id(result: str) -> str:
        (suite / "shop.json").write_text(json.dumps(fakes(tool("t", {"anyArgs": True, "result": result}))))
        asked = Request(suites=(str(suite),), models=("scripted:asks",), k=2, mode="sandbox")
        (cell,) = make_plan(asked).cells
        return cell.cell_id

    assert cell_id("a") == cell_id("a")
    assert cell_id("a") != cell_id("b")


def test_every_mistake_in_the_fakes_of_a_suite_is_told_at_once(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"faked": {"task": "x", "mcpServers": SHOP, "fakes": ["a.json", "none.json"]}})
    (suite / "a.json").write_text('{"mcpFakes": {"scope": "shared", "mount": "/elsewhere", "tools": []}}')
    with pytest.raises(InvalidInput) as refused:
        make_plan(Request(suites=(str(suite),), models=("scripted:asks",), k=1, mode="sandbox"))
    told = str(refused.value)
    assert "none.json: cannot be read" in told
    assert "tools must not be empty" in told


def test_fakes_for_a_mount_without_a_server_are_a_mistake(tmp_path: Path) -> None:
    document = {
        "task": "x",
        "mcpServers": SHOP,
        "fakes": [fakes(tool("t", {"anyArgs": True, "result": "x"}), mount="/b")],
    }
    suite = write_suite(tmp_path, {"faked": document})
    with pytest.raises(InvalidInput, match=r"declared for /b, which no server has \(mounts here: /mcp \(shop\)\)"):
        make_plan(Request(suites=(str(suite),), models=("scripted:asks",), k=1, mode="sandbox"))
