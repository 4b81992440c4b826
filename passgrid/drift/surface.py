"""What servers list, then and now: tools, arguments, descriptions, annotations, output schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from passgrid.drift.findings import SURFACE, Finding, Severity, example
from passgrid.drift.results import Difference
from passgrid.drift.schemas import schema_differences
from passgrid.json_values import is_object

Tools = Sequence[Mapping[str, Any]]
"""Tools as a cassette keeps them: server, name, description?, inputSchema, annotations?, outputSchema?."""

UNKNOWN_SCHEMA = "x-passgrid-schema"
"""In the input schema of an imported recording that does not know it."""

_DANGER = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""Annotations, and the value that promises less."""


def surface_findings(recorded: Tools, live: Tools) -> list[Finding]:
    """Everything that changed in what is listed. What a recording does not know is not compared."""
    now = {tool["name"]: tool for tool in live}
    then = {tool["name"] for tool in recorded}
    found: list[Finding] = []
    for tool in recorded:
        there = now.get(tool["name"])
        if there is None:
            missing = Difference("", "the server lacks this tool", Severity.BREAKING, tool.get("description"), None)
            found.append(_finding(tool, missing))
        else:
            found += [_finding(there, one) for one in _tool_differences(tool, there)]
    for tool in live:
        if tool["name"] not in then:
            new = Difference("", "a new tool", Severity.COMPATIBLE, None, tool.get("description"))
            found.append(_finding(tool, new))
    return found


def _finding(tool: Mapping[str, Any], one: Difference) -> Finding:
    server = str(tool.get("server", ""))
    return Finding(
        SURFACE, server, tool["name"], one.place, one.change, one.severity, example(one.recorded), example(one.live)
    )


def _tool_differences(recorded: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Difference]:
    before, after = recorded.get("description"), live.get("description")
    if before is not None and before != after:
        yield Difference("", "is described differently", Severity.VALUE_ONLY, before, after)
    given = recorded.get("inputSchema")
    if is_object(given) and UNKNOWN_SCHEMA not in given:
        yield from schema_differences(given, live.get("inputSchema") or {}, given=True)
    if "annotations" in recorded:
        yield from _annotation_differences(recorded["annotations"] or {}, live.get("annotations") or {})
    if "outputSchema" in recorded:
        yield from _output_differences(recorded["outputSchema"], live.get("outputSchema"))


def _annotation_differences(recorded: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Difference]:
    for name in sorted({**recorded, **live}):
        before, after = recorded.get(name), live.get(name)
        if before == after:
            continue
        if name == "title":
            severity = Severity.VALUE_ONLY
        else:
            danger = name in _DANGER and after in (_DANGER[name], None) and before is (not _DANGER[name])
            severity = Severity.BREAKING if danger else Severity.COMPATIBLE
        yield Difference(f"annotations.{name}", f"is {after} instead of {before}", severity, before, after)


def _output_differences(recorded: Any, live: Any) -> Iterator[Difference]:
    if is_object(recorded) and is_object(live):
        for one in schema_differences(recorded, live, given=False):
            place = f"output.{one.place}" if one.place else "output"
            yield Difference(place, one.change, one.severity, one.recorded, one.live)
    elif bool(recorded) != bool(live):
        gone = bool(recorded)
        change = "the schema of its results is gone" if gone else "its results have a schema now"
        yield Difference("output", change, Severity.BREAKING if gone else Severity.COMPATIBLE, recorded, live)
