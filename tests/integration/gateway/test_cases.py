"""The sixteen cases that every implementation of the contract must get right, over every carrier."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integration.gateway.wires import ABSENT, MODERN, HttpWire, Who, Wire, call_message


def block(*tools: dict[str, Any], scope: Any = "shared", **more: Any) -> dict[str, Any]:
    return {"scope": scope, "tools": list(tools), **more}


def tool(name: str, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "calls": list(calls)}


def text_of(answer: dict[str, Any]) -> str:
    assert "result" in answer, answer
    return answer["result"]["content"][0]["text"]


def error_of(answer: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    assert "error" in answer, answer
    return answer["error"]["code"], answer["error"]["data"]["aimock"]


def code_of(answer: dict[str, Any]) -> str:
    return error_of(answer)[1]["code"]


async def test_case_1_an_error_then_a_result_then_exhausted(wire: Wire) -> None:
    args = {"city": "Oslo"}
    entries = ({"id": "down", "args": args, "error": "timed out"}, {"id": "up", "args": args, "result": "5 degrees"})
    await wire.load(block(tool("get_weather", *entries)))
    first, second, third = [await wire.call("get_weather", args) for _ in range(3)]
    assert first["result"]["isError"] is True
    assert text_of(first) == "timed out"
    assert second["result"]["isError"] is False
    assert text_of(second) == "5 degrees"
    code, body = error_of(third)
    assert code == -31010
    prefix = f"{body['matchingIds'][0].rpartition(':')[0]}:"
    assert body == {
        "code": "MCP_FAKE_EXHAUSTED",
        "tool": "get_weather",
        "testId": None,
        "context": None,
        "mount": "/mcp",
        "received": args,
        "matchingDeclared": 2,
        "matchingConsumed": 2,
        "matchingIds": [f"{prefix}down", f"{prefix}up"],
    }


async def test_case_2_an_object_is_compact_text_and_structured_content(wire: Wire) -> None:
    await wire.load(block(tool("t", {"anyArgs": True, "result": {"b": 1, "a": ["x", None]}})))
    result = (await wire.call("t"))["result"]
    assert result["content"] == [{"type": "text", "text": '{"b":1,"a":["x",null]}'}]
    assert result["structuredContent"] == {"b": 1, "a": ["x", None]}
    assert result["isError"] is False


async def test_case_3_other_letters_are_a_mismatch_and_no_handler_runs(wire: Wire) -> None:
    await wire.load(block(tool("get_weather", {"id": "w", "args": {"city": "Seattle"}, "result": "rain"})))
    code, body = error_of(await wire.call("get_weather", {"city": "seattle"}))
    assert code == -32602
    declared_id = body["declared"][0]["id"]
    assert body == {
        "code": "MCP_FAKE_MISMATCH",
        "tool": "get_weather",
        "testId": None,
        "context": None,
        "mount": "/mcp",
        "received": {"city": "seattle"},
        "declared": [{"id": declared_id, "args": {"city": "Seattle"}, "consumed": False}],
        "firstDifference": '$.city: expected "Seattle", received "seattle"',
    }
    assert wire.handled() == []
    assert text_of(await wire.call("get_weather", {"city": "Seattle"})) == "rain"


@pytest.mark.parametrize(
    ("declared", "sent", "matches"),
    [
        ({"a": "1"}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({"a": {}}, {"a": []}, False),
        ({"b": 2, "a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": 1.0}, True),
    ],
)
async def test_case_4_nothing_is_converted(wire: Wire, declared: Any, sent: Any, matches: bool) -> None:
    await wire.load(block(tool("t", {"args": declared, "result": "yes"})))
    answer = await wire.call("t", sent)
    if matches:
        assert text_of(answer) == "yes"
    else:
        assert code_of(answer) == "MCP_FAKE_MISMATCH"


async def test_case_5_no_arguments_are_an_empty_object_and_others_match_anything_only(wire: Wire) -> None:
    await wire.load(
        block(tool("none", {"args": {}, "result": "empty"}), tool("exact", {"args": {}, "result": "empty"}))
    )
    anything = [{"anyArgs": True, "result": str(n)} for n in range(4)]
    await wire.load(block(tool("any", *anything)))
    assert text_of(await wire.call("none", ABSENT)) == "empty"
    odd: list[Any] = ["x", [], None, 3]
    assert [text_of(await wire.call("any", one)) for one in odd] == ["0", "1", "2", "3"]
    for one in odd:
        assert code_of(await wire.call("exact", one)) == "MCP_FAKE_MISMATCH"


async def test_case_6_anything_is_used_first_where_it_alone_matches(wire: Wire) -> None:
    entries = ({"id": "exact", "args": {"a": 1}, "result": "exact"}, {"id": "any", "anyArgs": True, "result": "any"})
    await wire.load(block(tool("t", *entries)))
    assert text_of(await wire.call("t", {"a": 2})) == "any"
    assert text_of(await wire.call("t", {"a": 1})) == "exact"
    _, body = error_of(await wire.call("t", {"a": 1}))
    assert body["code"] == "MCP_FAKE_EXHAUSTED"
    assert [one.rpartition(":")[2] for one in body["matchingIds"]] == ["exact", "any"]


async def test_case_7_each_call_finds_its_own_entry_and_parallel_ones_share_none(wire: Wire) -> None:
    calls = [{"args": {"n": n}, "result": f"answer {n}"} for n in range(3)]
    same = [{"anyArgs": True, "result": "one"}, {"anyArgs": True, "result": "two"}]
    await wire.load(block(tool("t", *calls), tool("twice", *same)))
    assert [text_of(await wire.call("t", {"n": n})) for n in (2, 0, 1)] == ["answer 2", "answer 0", "answer 1"]
    answers = await asyncio.gather(*(wire.call("twice") for _ in range(3)))
    assert sorted(text_of(one) for one in answers if "result" in one) == ["one", "two"]
    assert [code_of(one) for one in answers if "error" in one] == ["MCP_FAKE_EXHAUSTED"]


async def test_case_8_a_used_up_scope_does_not_fall_through_to_the_shared_one(wire: Wire) -> None:
    await wire.load(
        block(tool("t", {"anyArgs": True, "result": "mine"}), scope={"testId": "T"}),
        block(tool("t", {"anyArgs": True, "result": "everybody's"})),
    )
    assert text_of(await wire.call("t", who=Who("T"))) == "mine"
    assert code_of(await wire.call("t", who=Who("T"))) == "MCP_FAKE_EXHAUSTED"
    assert text_of(await wire.call("t", who=Who("other"))) == "everybody's"


async def test_case_9_one_id_is_one_state_however_it_is_said(wire: Wire) -> None:
    calls = [{"anyArgs": True, "result": "one"}, {"anyArgs": True, "result": "two"}]
    await wire.load(block(tool("t", *calls)))
    assert text_of(await wire.call("t", who=Who("a b"))) == "one"
    assert text_of(await wire.call("t", who=Who("a b", by="query"))) == "two"
    assert text_of(await wire.call("t", who=Who("another"))) == "one"


async def test_case_10_deny_blocks_handlers_and_leaves_shared_fakes(wire: Wire) -> None:
    await wire.load(
        block(scope={"testId": "T"}, undeclaredTools="deny"),
        block(tool("shared_tool", {"anyArgs": True, "result": "shared"})),
    )
    code, body = error_of(await wire.call("plain_tool", {}, Who("T")))
    assert (code, body["code"]) == (-32602, "MCP_FAKE_NOT_DECLARED")
    assert body["declaredTools"] == ["shared_tool"]
    assert wire.handled() == []
    assert text_of(await wire.call("shared_tool", who=Who("T"))) == "shared"
    assert text_of(await wire.call("plain_tool", {}, Who("U"))) == "handled plain_tool"


async def test_case_11_the_override_goes_before_the_blocks(wire: Wire) -> None:
    denied = await wire.call("plain_tool", {}, Who(undeclared=" DENY ", by="query"))
    assert code_of(denied) == "MCP_FAKE_NOT_DECLARED"
    assert denied["error"]["message"].startswith("Unknown tool:")
    await wire.load(block(scope={"testId": "T"}, undeclaredTools="deny"))
    assert text_of(await wire.call("plain_tool", {}, Who("T", undeclared="Allow"))) == "handled plain_tool"


async def test_case_11_an_override_that_is_neither_is_refused_and_makes_no_session(http: HttpWire) -> None:
    wrong: list[dict[str, Any]] = [
        {"headers": {"x-aimock-mcp-undeclared": "denied"}},
        {"params": {"undeclared": "denied"}},
    ]
    for options in wrong:
        answer = await http.begin(**options)
        assert answer.status_code == 400
        assert answer.json()["code"] == "MCP_INVALID_UNDECLARED"
        assert "mcp-session-id" not in answer.headers
    both = await http.post(call_message("t"), query="undeclared=denied", headers=[("x-aimock-mcp-undeclared", "deny")])
    assert (both.status_code, both.json()["code"]) == (400, "MCP_INVALID_UNDECLARED")


async def test_case_12_an_identity_said_twice_is_refused(http: HttpWire) -> None:
    twice = await http.post(call_message("t"), headers=[("x-test-id", "a"), ("x-test-id", "b")])
    queries = [await http.post(call_message("t"), query=query) for query in ("testId=a&testId=b", "testId&testId=t")]
    for answer in (twice, *queries):
        assert answer.status_code == 400
        assert set(answer.json()) == {"error", "code"}
        assert answer.json()["code"] == "MCP_DUPLICATE_IDENTITY"
    await http.load(block(tool("t", {"anyArgs": True, "result": "one id"}), scope={"testId": "a, b"}))
    assert text_of(await http.call("t", who=Who("a, b"))) == "one id"


async def test_case_13_a_batch_is_served_in_order_with_a_journal_entry_each(wire: Wire) -> None:
    if isinstance(wire, HttpWire) and wire.version == MODERN:
        await _is_refused_as_a_whole(wire)
        return
    await wire.load(block(tool("t", {"args": {"a": 1}, "result": "yes"})))
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    messages = [call_message("t", {"a": 2}, 1), call_message("t", {"a": 1}, 2), ping]
    answers = await wire.batch(messages, Who(f"batch {wire.name}"))
    assert [one["id"] for one in answers] == [1, 2, "p"]
    assert code_of(answers[0]) == "MCP_FAKE_MISMATCH"
    assert text_of(answers[1]) == "yes"
    assert answers[2]["result"] == {}
    journal = await wire.journal(f"batch {wire.name}")
    assert journal == [("tools/call", "mismatch"), ("tools/call", "answered"), ("ping", None)]


async def _is_refused_as_a_whole(http: HttpWire) -> None:
    """The stateless protocol has no batches."""
    headers = [("mcp-protocol-version", MODERN)]
    answer = await http.client.post(f"{http.url}/mcp", json=[call_message("t")], headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


async def test_case_14_the_oldest_state_is_evicted_until_it_is_reset(wire: Wire) -> None:
    calls = [{"anyArgs": True, "result": str(n)} for n in range(3)]
    fakes = block(tool("t", *calls))
    await wire.load(fakes)
    for test in ("T1", "T2", "T3"):
        assert text_of(await wire.call("t", who=Who(test))) == "0"
    for _ in range(2):
        code, body = error_of(await wire.call("t", who=Who("T1")))
        assert (code, body["code"], body["cap"]) == (-31011, "MCP_FAKE_EVICTED", 2)
    assert text_of(await wire.call("t", who=Who("T2"))) == "1"
    assert text_of(await wire.call("t", who=Who("T3"))) == "1"
    await wire.reset()
    await wire.load(fakes)
    assert text_of(await wire.call("t", who=Who("T1"))) == "0"


async def test_case_15_one_bad_block_of_three_adds_nothing(wire: Wire) -> None:
    good = block(tool("t", {"anyArgs": True, "result": "good"}))
    first = await wire.load(good)
    assert first["mcpFakesAdded"] == 1
    number = await _number_of(wire)
    bad = {"scope": "shared", "undeclaredTools": "deny", "tools": [tool("t", {"args": None, "result": None}), 5]}
    refused = await wire.load(block(tool("u", {"anyArgs": True, "result": 1})), bad, good)
    assert "mcpFakesAdded" not in refused
    rules = {(one["name"], one["rule"]) for one in refused["details"]}
    assert rules == {("mcp-fakes/bad-block", rule) for rule in ("c", "d", "i")}
    assert set(refused["details"][0]) == {"name", "rule", "file", "blockId", "entryId", "message"}
    answer = await wire.call("u", who=Who(undeclared="deny"))
    assert error_of(answer)[1]["declaredTools"] == ["t"]
    await wire.load(good)
    assert await _number_of(wire) == number + 1


async def _number_of(wire: Wire) -> int:
    """The number of the last load, as it stands in the ids of its entries."""
    _, body = error_of(await _exhausted(wire))
    return max(int(one.partition("#")[2].partition("[")[0].partition(":")[0]) for one in body["matchingIds"])


async def _exhausted(wire: Wire) -> dict[str, Any]:
    while "error" not in (answer := await wire.call("t")):
        pass
    return answer


async def test_case_16_a_name_is_looked_at_before_any_fake(wire: Wire) -> None:
    await wire.load(block(scope={"testId": "T"}, undeclaredTools="deny"))
    answer = await wire.call(123, {}, Who("T"))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"] == "Invalid tool name: expected a string, got number"
    assert (await wire.call("", {}, Who("T")))["error"]["message"] == "Missing tool name"
    missing: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}
    if not isinstance(wire, HttpWire):
        assert (await wire.batch([missing], Who("T")))[0]["error"]["message"] == "Missing tool name"
