"""What is looked at and taken away after an attempt, on a real server in this process."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from passgrid.attempt import AttemptResult, run
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from tests.unit.passgrid.suites import replay_order, scenario

SERVER = b"""
import os
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

SHARED = {"1": {"id": 1, "name": "a person's", "state": "open"}}
READS = ToolAnnotations(readOnlyHint=True)

def make(own=False):
    server, orders = MCPServer("orders"), dict(SHARED) if own else SHARED

    @server.tool(annotations=READS)
    def list_orders() -> dict:
        return {"orders": [dict(order) for order in orders.values()]}

    @server.tool(annotations=READS)
    def state_of(id: int) -> dict:
        return {"state": orders[str(id)]["state"]}

    @server.tool(annotations=READS)
    def look_while_a_person_closes(id: int) -> str:
        orders[str(id)] = {**orders[str(id)], "state": "closed"}
        return "it was open"

    @server.tool()
    def vanish() -> str:
        orders["2"] = None
        return "listing fails from now on"

    @server.tool()
    def place(name: str) -> dict:
        number = max(map(int, orders)) + 1
        orders[str(number)] = {"id": number, "name": name, "state": "open"}
        return {"id": number}

    @server.tool()
    def close(id: int) -> str:
        orders[str(id)] = {**orders[str(id)], "state": "closed"}
        return "closed"

    @server.tool()
    def cancel(id: int) -> str:
        if orders[str(id)]["name"].endswith("stuck"):
            raise ValueError("it is stuck")
        del orders[str(id)]
        return "gone"

    return server

def own():
    return make(own=True)
"""
POLICIES = b"""
import json
from passgrid import Call, policy

@policy("acts")
def acts(turn):
    todo = json.loads(turn.messages[1]["content"].split("|")[1])
    done = len(turn.results)
    if done < len(todo):
        tool, arguments = todo[done]
        return Call(tool, arguments)
    return "done"

@policy("judges")
def judges(turn):
    return "PASS" if "calls place" in turn.messages[-1]["content"] else "FAIL\\nnothing was ordered"

@policy("rambles")
def rambles(turn):
    return "Well, it depends."
"""
LEDGER = {
    "order": {
        "list": {"tool": "list_orders", "items": "orders"},
        "made_by": {"place": "id"},
        "owner": {"path": "name"},
        "delete": {"tool": "cancel"},
    }
}


async def attempt(*calls: tuple[str, dict[str, Any]], maker: str = "make", **of: Any) -> AttemptResult:
    """One live attempt that makes these calls, on orders that all attempts share unless its maker is `own`."""
    found = scenario(
        task="As ${namespace}|" + json.dumps(calls),
        mcpServers={"shop": {"python": f"servers/orders.py:{maker}"}},
        **of,
    )
    order = replay_order(
        of=found,
        mode=Mode.LIVE,
        model=parse_model_reference("scripted:acts"),
        namespace="pg-test-1",
        suite_files={"policies.py": POLICIES, "servers/orders.py": SERVER},
        record=True,
    )
    return await run(replace(order, cassette=None))


async def test_what_an_attempt_made_is_found_judged_and_taken_away() -> None:
    result = await attempt(
        ("place", {"name": "bolts"}),
        ledger=LEDGER,
        checks=[{"artifact": {"kind": "order", "where": {"name": "bolts"}, "at_most": 1}}],
    )
    assert (result.outcome.kind, result.outcome.reason) == (OutcomeKind.PASSED, "")
    assert [(one.kind, one.change) for one in result.afterwards.artifacts] == [("order", "created")]
    assert (result.afterwards.removed, result.afterwards.leftovers) == (1, ())
    after = await attempt(ledger=LEDGER)
    assert after.afterwards.artifacts == (), "nothing of it is left, and the person's is not ours"


async def test_what_cannot_be_taken_away_is_left_over_with_its_reason() -> None:
    result = await attempt(("place", {"name": "stuck"}), maker="own", ledger=LEDGER)
    (left,) = result.afterwards.leftovers
    assert (left.kind, left.id) == ("order", "2")
    assert left.reason.startswith("shop/cancel: ")
    kept = await attempt(("place", {"name": "x"}), maker="own", ledger={"order": {**LEDGER["order"], "delete": None}})
    assert [one.reason for one in kept.afterwards.leftovers] == ["the ledger declares no deletion"]


async def test_a_limit_ends_an_attempt_and_not_its_cleaning_up() -> None:
    result = await attempt(("place", {"name": "a"}), ("place", {"name": "b"}), ledger=LEDGER, limits={"tool_calls": 1})
    assert result.outcome.name == "limit(calls)"
    assert result.afterwards.removed == 1


async def test_a_change_to_something_else_is_ours_where_we_asked_for_it() -> None:
    checks = [{"artifact": {"kind": "order", "change": "changed", "where": {"state": "closed"}}}]
    result = await attempt(("close", {"id": 1}), maker="own", ledger=LEDGER, checks=checks)
    assert result.outcome.kind is OutcomeKind.PASSED


async def test_what_others_change_while_we_look_is_not_ours() -> None:
    result = await attempt(("look_while_a_person_closes", {"id": 1}), maker="own", ledger=LEDGER)
    assert result.afterwards.artifacts == ()
    assert result.afterwards.trouble == ""


@pytest.mark.parametrize(("calls", "passed"), [([("close", {"id": 1})], True), ([], False)])
async def test_servers_are_asked_afterwards(calls: list[Any], passed: bool) -> None:
    check = {"read_back": {"tool": "state_of", "arguments": {"id": 1}, "path": "state", "value": "closed"}}
    result = await attempt(*calls, maker="own", checks=[check])
    assert result.outcome.passed is passed
    assert result.tool_calls == () or result.tool_calls[-1].tool != "state_of", "asking is no call of the agent's"


async def test_a_stage_is_asked_for_afterwards_too() -> None:
    asked = {"tool": "state_of", "arguments": {"id": 1}, "path": "state", "value": "closed"}
    result = await attempt(("close", {"id": 1}), maker="own", stages={"closed": {"read_back": asked}})
    assert [(check.name, check.stage, check.passed) for check in result.checks] == [("closed", True, True)]


REFERENCE = {"tool": "list_orders", "reference": [{"tool": "close", "arguments": {"id": 1}}]}


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([("close", {"id": 1})], ""),
        ([("close", {"id": 1}), ("place", {"name": "x"})], "end_state: orders: expected 1 items, got 2"),
        ([], 'expected "closed", got "open"'),
    ],
)
async def test_the_end_state_is_that_after_the_reference_or_the_first_differences_are_named(
    calls: list[Any], reason: str
) -> None:
    result = await attempt(*calls, maker="own", end_state=REFERENCE, checks=[{"end_state": {"reference": True}}])
    assert result.outcome.passed is (not reason)
    assert reason in result.outcome.reason


async def test_a_recording_holds_what_servers_said_and_a_replay_is_judged_by_it() -> None:
    check = {"read_back": {"tool": "state_of", "arguments": {"id": 1}, "path": "state", "value": "closed"}}
    live = await attempt(("close", {"id": 1}), maker="own", checks=[check], ledger=LEDGER)
    assert live.recording is not None
    assert "pg-test-1" not in str(live.recording.to_document()), "a recording says ${namespace}"
    of = scenario(task='As ${namespace}|[["close", {"id": 1}]]', checks=[check], ledger=LEDGER)
    model = parse_model_reference("recorded:scripted-acts")
    replayed = await run(replay_order(live.recording, of, model=model))
    assert (replayed.outcome.kind, replayed.outcome.reason) == (OutcomeKind.PASSED, "")


@pytest.mark.parametrize(
    ("judge", "calls", "passed", "detail"),
    [
        ("judges", [("place", {"name": "x"})], True, ""),
        ("judges", [], False, "nothing was ordered"),
        ("rambles", [], None, "it said neither PASS nor FAIL: Well, it depends."),
        ("nobody", [], None, "has no policy nobody"),
    ],
)
async def test_a_judge_gives_a_second_opinion_that_decides_nothing(
    judge: str, calls: list[Any], passed: bool | None, detail: str
) -> None:
    asked = {"model": f"scripted:{judge}", "rubric": "Something was ordered."}
    result = await attempt(*calls, maker="own", judge=asked, checks=[{"final_text": {"equals": "done"}}])
    (opinion,) = [check for check in result.checks if check.kind == "judge"]
    assert (opinion.passed, opinion.required) == (passed, False)
    assert detail in opinion.detail
    assert result.outcome.kind is OutcomeKind.PASSED
    assert all(call.answered == "scripted" for call in result.model_calls)


async def test_a_judges_opinion_is_recorded_and_counts_for_its_own_rubric_alone() -> None:
    asked = {"model": "scripted:judges", "rubric": "Something was ordered."}
    live = await attempt(maker="own", judge=asked)
    assert live.recording is not None
    model = parse_model_reference("recorded:scripted-acts")
    task = "As ${namespace}|[]"
    same = await run(replay_order(live.recording, scenario(task=task, judge=asked), model=model))
    other = await run(
        replay_order(live.recording, scenario(task=task, judge={**asked, "rubric": "Another."}), model=model)
    )
    assert [check.passed for check in same.checks] == [False]
    assert [(check.passed, check.detail[:32]) for check in other.checks] == [(None, "its opinion is by another rubric")]


async def test_where_nobody_can_look_that_is_said_and_no_leftovers_are_claimed() -> None:
    blind = {"order": {**LEDGER["order"], "list": {"tool": "list_orders", "items": "nowhere"}}}
    result = await attempt(("place", {"name": "x"}), maker="own", ledger=blind)
    assert result.outcome.name == "infra_error(ledger)", "what it would make could not be told from what is there"
    assert result.tool_calls == ()
    gone = await attempt(("vanish", {}), maker="own", ledger=LEDGER)
    assert "list_orders" in gone.afterwards.trouble
    assert gone.afterwards.leftovers == ()
