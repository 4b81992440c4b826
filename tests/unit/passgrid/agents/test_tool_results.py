"""Answers of tools on their way to an MCP client, and back as what an agent tells its model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic_ai.messages import BinaryContent

from passgrid.agents.tool_results import answer_result, error_result, tells_the_same

IMAGE = BinaryContent(b"\x89PNG", media_type="image/png")
STORED_IMAGE = {"image": IMAGE.data_uri, "media_type": "image/png"}


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("five", [{"type": "text", "text": "five"}]),
        (5, [{"type": "text", "text": "5"}]),
        (None, [{"type": "text", "text": "null"}]),
        ({"n": 5}, [{"type": "text", "text": '{"n":5}'}]),
        (["a", "b"], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ([1, 2], [{"type": "text", "text": "[1,2]"}]),
        ([], [{"type": "text", "text": "[]"}]),
        (IMAGE, [{"type": "image", "data": IMAGE.base64, "mimeType": "image/png"}]),
        (STORED_IMAGE, [{"type": "image", "data": IMAGE.base64, "mimeType": "image/png"}]),
        ("a\ud800b", [{"type": "text", "text": "a\ufffdb"}]),
    ],
)
def test_an_answer_becomes_blocks(value: Any, content: list[dict[str, Any]]) -> None:
    result = answer_result(value)
    assert (result["content"], result["isError"]) == (content, False)
    json.dumps(result, ensure_ascii=False).encode()


def test_an_object_is_structured_and_other_values_where_the_server_wraps_them() -> None:
    wrapping = {"type": "object", "properties": {"result": {"type": "integer"}}}
    assert answer_result({"n": 5})["structuredContent"] == {"n": 5}
    assert answer_result(5, wrapping)["structuredContent"] == {"result": 5}
    assert answer_result({"result": 5}, wrapping)["structuredContent"] == {"result": 5}
    assert "structuredContent" not in answer_result(5)
    assert "structuredContent" not in answer_result(STORED_IMAGE)


def test_an_error_is_marked() -> None:
    assert error_result("no") == {"content": [{"type": "text", "text": "no"}], "isError": True}


@pytest.mark.parametrize(
    ("told", "value"),
    [
        ("five", "five"),
        ("5", 5),
        ('{"n": 5.0}', {"n": 5}),
        ({"n": 5}, {"n": 5}),
        ("a\nb", ["a", "b"]),
        ("ab", ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ('[{"type": "text", "text": "five"}]', "five"),
        ('{"content": [{"type": "text", "text": "five"}], "isError": false}', "five"),
    ],
)
def test_the_usual_ways_to_pass_an_answer_on_are_known(told: Any, value: Any) -> None:
    assert tells_the_same(told, value)


@pytest.mark.parametrize(
    ("told", "value"), [("six", "five"), ("five!", "five"), ("6", 5), ("", 5), ("{", {}), ([], "a")]
)
def test_anything_else_is_something_else(told: Any, value: Any) -> None:
    assert not tells_the_same(told, value)
