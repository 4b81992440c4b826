"""Each word of the vocabulary: what it passes, and what it says when it does not."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from passgrid.conditions import CHECK_KINDS
from passgrid.scoring.checks import CheckResult, run_checks
from passgrid.scoring.evidence import Artifact, Evidence
from passgrid.suite_code import SuiteCode
from passgrid.transcript import ToolCallRecord
from tests.unit.passgrid.suites import scenario

LEDGER = {"order": {"list": {"tool": "orders"}, "made_by": {"place": "id"}, "delete": {"tool": "cancel"}}}
STATE = {"tool": "orders", "reference": [{"tool": "place", "arguments": {"sku": "A"}}]}
CODE = b"""
from dataclasses import dataclass
from passgrid import check
from pydantic_evals.evaluators import Evaluator

@check
def is_polite(evidence):
    return "please" in evidence.said

@dataclass
class Buys(Evaluator):
    def evaluate(self, ctx):
        import socket
        socket.create_connection(("127.0.0.1", 9), timeout=1)
        return True

@dataclass
class Short(Evaluator):
    most: int = 100
    def evaluate(self, ctx):
        return len(ctx.output) <= self.most
"""


def call(i: int, tool: str, arguments: Any, result: Any, *, error: bool = False) -> ToolCallRecord:
    return ToolCallRecord(
        turn=i + 1, server="shop", tool=tool, arguments=arguments, result=result, answered="live", error=error,
        error_text=str(result) if error else None, started_ms=0, duration_ms=1, asked=i, answered_at=i,
    )  # fmt: skip


CALLS = (
    call(0, "find", {"sku": "A"}, '{"item": {"sku": "A", "stock": 1164}}'),
    call(1, "place", {"sku": "A", "n": 2}, {"id": 17}),
    call(2, "place", {"sku": "B", "n": 1}, "no such thing", error=True),
    call(3, "pay", {"order": 17}, "ok"),
)
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Order two A, please."},
    {"role": "assistant", "content": "One moment, please.", "tool_calls": []},
    {"role": "assistant", "content": "Ordered: 2 of 1,164. Total $31.20."},
]


def check(definition: dict[str, Any], **changes: Any) -> CheckResult:
    of = scenario(checks=[definition], ledger=LEDGER, end_state=STATE)
    values: dict[str, Any] = {
        "scenario": of,
        "messages": MESSAGES,
        "tool_calls": CALLS,
        "files": {"a.txt": "new", "same.txt": "old"},
        "verdicts": {},
        "changes": {"a.txt": "changed", "gone.txt": "deleted"},
        "artifacts": (Artifact("order", "17", "created", {"id": 17, "sku": "A", "lines": [{"n": 2}]}),),
        "read_backs": {"read_back:order_state": {"value": {"state": "paid"}}, "read_back:broken": {"error": "no"}},
        "end_state": {"state": {"orders": [{"id": 17}]}, "equal": False, "differences": ["orders.17: expected …"]},
        **changes,
    }
    (result,) = run_checks(of, Evidence(**values), SuiteCode({"checks.py": CODE}))
    return result


PASSING: list[dict[str, Any]] = [
    {"final_text": {"number": {"value": 31, "tolerance": 0.5}}},
    {"final_text": {"number": {"value": 1100, "relative": 0.1}}},
    {"final_text": {"contains": "1164", "plain_numbers": True}},
    {"final_text": {"equals": "ORDERED: 2 of 1,164. total $31.20.", "ignore_case": True}},
    {"said": {"contains": ["One moment", "Total"]}},
    {"tool_called": {"tool": "place", "at_least": 1, "at_most": 1}},
    {"tool_called": {"tool": "pay", "arguments": {"order": {"$created": "order"}}}},
    {"tool_called": {"tool": "pay", "arguments": {"order": {"$result": {"tool": "place", "path": "id"}}}}},
    {"tool_never_called": {"tool": "cancel"}},
    {"tool_never_called": {"tool": "place", "arguments": {"sku": "C"}}},
    {"tools_in_order": ["find", {"tool": "place", "arguments": {"n": 2}}, "pay"]},
    {"tool_result": {"tool": "find", "path": "item.stock", "number": {"value": 1164}}},
    {"tool_result": {"tool": "find", "json_schema": {"required": ["item"]}}},
    {"file": {"path": "a.txt", "change": "changed", "contains": "new"}},
    {"file": {"path": "gone.txt", "change": "deleted"}},
    {"file": {"path": "same.txt", "change": "none"}},
    {"artifact": {"kind": "order", "where": {"sku": "A", "lines.0.n": 2}, "at_most": 1}},
    {"artifact": {"kind": "order", "change": "gone", "at_least": 0, "at_most": 0}},
    {"read_back": {"tool": "order_state", "path": "state", "value": "paid"}},
    {"end_state": {"path": "orders.0.id", "value": 17}},
    {"python": "checks.py:is_polite"},
    {"evaluator": {"name": "Contains", "arguments": {"value": "Total"}}},
    {"evaluator": {"name": "checks.py:Short"}},
]


@pytest.mark.parametrize("definition", PASSING, ids=str)
def test_passes(definition: dict[str, Any]) -> None:
    result = check(definition)
    assert (result.passed, result.detail) == (True, "")


@pytest.mark.parametrize(
    ("definition", "detail"),
    [
        ({"final_text": {"number": {"value": 40}}}, "holds no number 40 ± 0; the nearest is 31.2"),
        ({"final_text": {"json_schema": {"type": "object"}}}, "is no JSON"),
        ({"said": {"contains": "sorry"}}, "does not contain 'sorry'"),
        ({"tool_called": {"tool": "find", "at_least": 2}}, "called 1 times as asked, at least 2 are wanted"),
        ({"tool_called": {"tool": "pay", "arguments": {"order": {"$result": {"tool": "find", "path": "id"}}}}},
         "should refer to something the attempt made"),
        ({"tool_never_called": {"tool": "place", "arguments": {"sku": "B"}}}, "place was called, as call 3"),
        ({"tools_in_order": ["pay", "find"]}, "find did not come after pay; 1 of 2 came in order"),
        ({"tool_result": {"tool": "cancel", "contains": "x"}}, "cancel answered nothing"),
        ({"tool_result": {"tool": "find", "path": "item.price", "contains": "1"}}, "has no item.price"),
        ({"tool_result": {"tool": "find", "json_schema": {"required": ["id"]}}}, "'id' is a required property"),
        ({"file": {"path": "same.txt", "change": "changed"}}, "same.txt is as it was, not changed"),
        ({"file": {"path": "a.txt", "change": "none"}}, "a.txt is changed, not none"),
        ({"artifact": {"kind": "order", "where": {"sku": "B"}}}, 'another has sku: expected "B", got "A"'),
        ({"artifact": {"kind": "order", "at_least": 0, "at_most": 0}}, "1 of kind order created, at most 0 allowed"),
        ({"read_back": {"tool": "order_state", "path": "state", "value": "open"}}, 'expected "open", got "paid"'),
        ({"read_back": {"tool": "broken", "value": 1}}, "asked, and it erred: no"),
        ({"end_state": {"reference": True}}, "orders.17: expected …"),
        ({"evaluator": {"name": "Contains", "arguments": {"value": "nothing"}}}, "nothing"),
    ],
    ids=str,
)  # fmt: skip
def test_does_not_pass_and_says_why(definition: dict[str, Any], detail: str) -> None:
    result = check(definition)
    assert result.passed is False
    assert detail in result.detail


@pytest.mark.parametrize(
    ("definition", "changes", "detail"),
    [
        ({"read_back": {"tool": "other", "value": 1}}, {}, "nobody asked"),
        ({"end_state": {"reference": True}}, {"end_state": {}}, "nobody read it"),
        ({"end_state": {"reference": True}}, {"end_state": {"error": "down"}}, "could not be read: down"),
        ({"evaluator": {"name": "NoSuch"}}, {}, "is no evaluator"),
    ],
    ids=str,
)
def test_what_cannot_be_known_is_neither_passed_nor_failed(
    definition: dict[str, Any], changes: dict[str, Any], detail: str
) -> None:
    result = check(definition, **changes)
    assert result.passed is None
    assert detail in result.detail


@pytest.mark.parametrize("mode", ["replay", "live"])
def test_an_evaluator_reaches_nothing_outside(mode: str) -> None:
    result = check({"evaluator": {"name": "checks.py:Buys"}}, mode=mode)
    assert result.passed is None
    assert "ReplayLeak" in result.detail


def test_a_check_of_other_modes_is_absent() -> None:
    of = scenario(checks=[{"said": {"contains": "x"}, "only": ["drift"]}, {"final_text": {"contains": "2"}}])
    names = {
        mode: [one.name for one in run_checks(of, Evidence(of, MESSAGES, (), {}, {}, mode=mode), SuiteCode({}))]
        for mode in ("drift", "replay")
    }
    assert names == {"drift": ["said", "final_text"], "replay": ["final_text"]}


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"checks": [{"artifact": {"kind": "invoice"}}]}, "the ledger has no kind invoice"),
    ({"checks": [{"end_state": {"reference": True}}]}, "end_state does not say how the state is read"),
    ({"checks": [{"end_state": {}}]}, "either `reference: true` or a value"),
    ({"checks": [{"tool_called": {"tool": "x", "arguments": {"a": {"$made": "y"}}}}]}, "write {$created: KIND}"),
    ({"checks": [{"final_text": {"json_schema": {"type": "nonsense"}}}]}, "not a JSON Schema"),
    ({"checks": [{"evaluator": {"name": "LLMJudge"}}]}, "use `judge` of the scenario"),
    ({"checks": [{"read_back": {"value": 1}}]}, "name either a tool or a resource"),
    (
        {"ledger": {"a": {"list": {"tool": "l"}, "delete": {"tool": "d"}}}},
        "say whose it is before it may be deleted",
    ),
    ({"ledger": {"a": {"list": {"tool": "l"}, "after": ["b"]}}}, "names b, which is no kind"),
    ({"ledger": {"a": {"list": {"tool": "l"}, "after": ["a"]}}}, "in a circle"),
    ({"ledger": {"a": {"list": {"tool": "l"}, "owner": {"path": "n", "contains": "x"}}}}, "without ${namespace}"),
]


@pytest.mark.parametrize(("document", "message"), MISTAKES, ids=str)
def test_a_mistake_in_a_scenario_is_named(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        scenario(**document)
    assert message in str(caught.value)


def test_every_word_is_tried_here_or_beside() -> None:
    tried = {name for definition in PASSING for name in definition}
    assert set(CHECK_KINDS) - tried == {"recorded_verdict"}, "that one is in test_checks.py"
