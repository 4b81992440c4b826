"""Whether the agent called what it should, as it should, and what came back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from passgrid.conditions import ToolCalled, ToolPattern, ToolResult
from passgrid.differences import EXPECTATION, first_difference
from passgrid.json_paths import at_path
from passgrid.json_values import is_object
from passgrid.scoring.evidence import Evidence
from passgrid.scoring.texts import as_text, match_text
from passgrid.scoring.verdict import Verdict
from passgrid.transcript import ToolCallRecord


def called(wanted: ToolCalled, evidence: Evidence) -> Verdict:
    """A call with these arguments, so often."""
    calls = _of_tool(wanted, evidence)
    if not calls:
        return False, f"{wanted.tool} was never called"
    differences = [_difference(wanted, call, evidence, succeeded=wanted.succeeded) for call in calls]
    fitting = differences.count(None)
    if not fitting:
        return False, f"called {len(calls)} times, never as asked; at last {differences[-1]}"
    if fitting < wanted.at_least:
        return False, f"called {fitting} times as asked, at least {wanted.at_least} are wanted"
    if wanted.at_most is not None and fitting > wanted.at_most:
        return False, f"called {fitting} times as asked, at most {wanted.at_most} are allowed"
    return True, ""


def never_called(pattern: ToolPattern, evidence: Evidence) -> Verdict:
    """No call with these arguments, not even one that erred."""
    for call in _of_tool(pattern, evidence):
        if _difference(pattern, call, evidence) is None:
            return False, f"{pattern.tool} was called, as call {call.asked + 1}"
    return True, ""


def in_order(patterns: Sequence[ToolPattern | str], evidence: Evidence) -> Verdict:
    """Calls that fit these one after the other, whatever came between."""
    wanted = [ToolPattern(tool=one) if isinstance(one, str) else one for one in patterns]
    left = list(wanted)
    for call in evidence.tool_calls:
        next_one = left and not call.error and left[0].tool == call.tool and left[0].server in {None, call.server}
        if next_one and _difference(left[0], call, evidence) is None:
            left.pop(0)
    if not left:
        return True, ""
    done = len(wanted) - len(left)
    before = f" after {wanted[done - 1].tool}" if done else ""
    return False, f"{left[0].tool} did not come{before}; {done} of {len(wanted)} came in order"


def result(wanted: ToolResult, evidence: Evidence) -> Verdict:
    """The last answer of a tool."""
    answers = evidence.results(wanted.tool, wanted.server)
    if not answers:
        return False, f"{wanted.tool} answered nothing"
    try:
        return match_text(wanted, as_text(at_path(answers[-1], wanted.path)))
    except LookupError as missing:
        return False, f"the answer of {wanted.tool} has no {missing.args[0]}"


def _of_tool(pattern: ToolPattern, evidence: Evidence) -> list[ToolCallRecord]:
    return [call for call in evidence.tool_calls if call.tool == pattern.tool and pattern.server in {None, call.server}]


def _difference(
    pattern: ToolPattern, call: ToolCallRecord, evidence: Evidence, *, succeeded: bool = False
) -> str | None:
    if succeeded and call.error:
        return "it ended in an error"
    arguments = call.arguments
    if not is_object(arguments):
        return "its arguments are not an object"
    for name, value in pattern.arguments.items():
        if name not in arguments:
            return f"argument {name} is missing"
        allowed = list(_referred(value, call, evidence))
        if not allowed:
            return f"argument {name} should refer to something the attempt made, and it made none"
        differences = [first_difference(one, arguments[name], name, EXPECTATION) for one in allowed]
        if None not in differences:
            return differences[-1]
    return None


def _referred(value: Any, call: ToolCallRecord, evidence: Evidence) -> Iterator[Any]:
    """The values an argument may have: itself, or what it refers to."""
    if not is_object(value) or len(value) != 1:
        yield value
    elif "$created" in value:
        made = [one for one in evidence.artifacts if one.kind == value["$created"] and one.change == "created"]
        yield from (one.id for one in made)
        yield from (int(one.id) for one in made if one.id.isdigit())
    elif "$result" in value:
        yield from _earlier_results(value["$result"], call, evidence)
    else:
        yield value


def _earlier_results(reference: dict[str, Any], call: ToolCallRecord, evidence: Evidence) -> Iterator[Any]:
    for earlier in evidence.tool_calls:
        if earlier.tool == reference["tool"] and not earlier.error and earlier.asked < call.asked:
            try:
                yield at_path(earlier.result, reference.get("path"))
            except LookupError:
                continue
