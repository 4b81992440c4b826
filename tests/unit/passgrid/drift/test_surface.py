from typing import Any

import pytest

from passgrid.drift.surface import surface_findings


def tool(name: str = "book", **changes: Any) -> dict[str, Any]:
    return {"server": "shop", "name": name, "description": "Book.", "inputSchema": schema(), **changes}


def schema(required: tuple[str, ...] = ("user",), **properties: Any) -> dict[str, Any]:
    known = {"user": {"type": "string", "description": "Who."}, **properties}
    return {"type": "object", "properties": known, "required": list(required)}


def told(recorded: dict[str, Any], live: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one.place, one.change, str(one.severity)) for one in surface_findings([recorded], [live])]


def test_tools_that_are_gone_break_and_new_ones_do_not() -> None:
    found = surface_findings([tool("think"), tool("book")], [tool("book"), tool("reset")])
    assert [(one.tool, one.change, one.severity) for one in found] == [
        ("think", "the server lacks this tool", "breaking"),
        ("reset", "a new tool", "compatible"),
    ]


@pytest.mark.parametrize(
    ("recorded", "live", "found"),
    [
        (schema(), schema(), []),
        (schema(date={"type": "string"}), schema(), [("date", "removed", "breaking")]),
        (schema(), schema(date={"type": "string"}), [("date", "added", "compatible")]),
        (schema(), schema(("user", "date"), date={"type": "string"}), [("date", "added, and required", "breaking")]),
        (schema(cost={"type": "number"}), schema(price={"type": "number"}), [("cost", "renamed to price", "breaking")]),
        (schema(()), schema(), [("user", "is required now", "breaking")]),
        (schema(), schema(()), [("user", "is not required any more", "compatible")]),
        (schema(n={"type": "integer"}), schema(n={"type": "number"}),
         [("n", "is number instead of integer", "compatible")]),
        (schema(n={"type": "number"}), schema(n={"type": "integer"}),
         [("n", "is integer instead of number", "breaking")]),
        (schema(n={"type": "string"}), schema(n={"type": "integer"}),
         [("n", "is integer instead of string", "breaking")]),
        (schema(n={"type": "string"}), schema(n={"anyOf": [{"type": "string"}, {"type": "null"}]}),
         [("n", "is null or string instead of string", "compatible")]),
        (schema(n={"enum": ["a", "b"]}), schema(n={"enum": ["a", "c"]}),
         [("n", "no longer allows b", "breaking"), ("n", "allows c too", "compatible")]),
        (schema(n={"type": "string"}), schema(n={"type": "string", "enum": ["a"]}),
         [("n", "allows only these", "breaking")]),
        (schema(n={"type": "string", "pattern": "a"}), schema(n={"type": "string"}),
         [("n", "has another pattern", "compatible")]),
        (schema(n={"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
         schema(n={"type": "array", "items": {"type": "object", "properties": {}}}),
         [("n[].a", "removed", "breaking")]),
        ({**schema(n={"$ref": "#/$defs/N"}), "$defs": {"N": {"type": "string"}}}, schema(n={"type": "string"}), []),
        (schema(user={"type": "string", "description": "Who."}),
         schema(user={"type": "string", "description": "Whom."}),
         [("user", "is described differently", "value-only")]),
        ({"type": "object", "x-passgrid-schema": "unknown"}, schema(), []),
    ],
    ids=["same", "removed", "added", "demanded", "renamed", "required", "optional", "wider", "narrower", "other-type",
         "nullable", "enum", "enum-new", "pattern", "nested", "reference", "description", "unknown"],
)  # fmt: skip
def test_arguments(recorded: dict[str, Any], live: dict[str, Any], found: list[tuple[str, str, str]]) -> None:
    assert told(tool(inputSchema=recorded), tool(inputSchema=live)) == found


def test_of_results_it_is_the_other_way_round() -> None:
    wide = {"type": "object", "properties": {"n": {"type": ["string", "null"]}}, "required": ["n"]}
    narrow = {"type": "object", "properties": {"n": {"type": "string"}, "m": {}}}
    assert told(tool(outputSchema=narrow), tool(outputSchema=wide)) == [
        ("output.m", "removed", "breaking"),
        ("output.n", "is required now", "compatible"),
        ("output.n", "is null or string instead of string", "breaking"),
    ]
    assert told(tool(outputSchema=wide), tool()) == [("output", "the schema of its results is gone", "breaking")]
    assert told(tool(), tool(outputSchema=wide)) == [], "a recording that does not know it is not compared"


def test_annotations_that_promise_less_break() -> None:
    reads, writes = {"readOnlyHint": True}, {"readOnlyHint": False, "title": "Book"}
    assert told(tool(annotations=reads), tool(annotations=writes)) == [
        ("annotations.readOnlyHint", "is False instead of True", "breaking"),
        ("annotations.title", "is Book instead of None", "value-only"),
    ]
    assert told(tool(annotations=writes), tool(annotations=reads))[0][2] == "compatible"


def test_a_schema_that_refers_to_itself_is_compared_to_some_depth() -> None:
    looped = {**schema(n={"$ref": "#/$defs/N"}), "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}}}}
    assert told(tool(inputSchema=looped), tool(inputSchema=looped)) == []
