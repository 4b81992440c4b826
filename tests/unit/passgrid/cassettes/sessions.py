"""Recordings of a shop, and sessions over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from passgrid.cassettes.format import Cassette, Step
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.cassettes.session import Call, RecordedSession, Served
from passgrid.cassettes.state_graph import StateGraph
from tests.unit.passgrid.suites import cassette

TOOLS: list[dict[str, Any]] = [
    {"name": "price", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}},
    {"name": "find", "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}},
    {"name": "order", "inputSchema": {"type": "object"}},
    {"name": "set_price", "inputSchema": {"type": "object"}},
]


class Failed(str):
    """An error a tool answered with."""


def recording(*steps: Sequence[tuple[str, dict[str, Any], Any]], said: str = "Go.", **changes: Any) -> Cassette:
    """Steps of calls, each a tool, its arguments and its answer; those of one step overlapped."""
    laid: list[Step] = [{"user": said}]
    for step in steps:
        parts = [{"call": tool, "id": f"c{i}", "args": args} for i, (tool, args, _) in enumerate(step)]
        answers = [
            {"call": i, "server": "shop", "error" if isinstance(answer, Failed) else "result": answer}
            for i, (_, _, answer) in enumerate(step)
        ]
        laid += [{"model": {"parts": parts}}, {"calls": answers}]
    return cassette(laid, tools=TOOLS, **changes)


def session(*cassettes: Cassette, rules: MatchingRules = NO_RULES, said: str = "Go.") -> RecordedSession:
    """A session over recordings."""
    one = RecordedSession(StateGraph(cassettes, rules))
    one.said(said)
    return one


def ask(one: RecordedSession, tool: str, **arguments: Any) -> Any:
    """One call's answer."""
    return served(one, tool, **arguments).result


def served(one: RecordedSession, tool: str, **arguments: Any) -> Served:
    """One call's answer, and how it was found."""
    return one.answer([Call(tool, arguments)])[0]
