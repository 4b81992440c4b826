"""Documents that would break, fetch or hide something later are refused when they are loaded."""

from __future__ import annotations

from typing import Any

import pytest

from passgrid.fakes.load_errors import UnusableFakes
from passgrid.fakes.loading import CODE, Fakes, load
from passgrid.sealing import sealed
from passgrid.wire.json_text import BadJson, parse


def loaded(call: dict[str, Any], **block: Any) -> Fakes:
    tools = [{"name": "t", "calls": [call]}]
    return load(Fakes(), {"mcpFakes": {"scope": "shared", "tools": tools, **block}}, CODE).fakes


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/x.json", "file:///etc/hostname", "#/nope", "other.json"])
def test_a_schema_that_refers_to_something_outside_of_it_is_refused_and_nothing_is_fetched(reference: str) -> None:
    call = {"argsMatching": {"schema": {"properties": {"a": {"$ref": reference}}}}, "result": "x"}
    with sealed(), pytest.raises(UnusableFakes, match="cannot be used"):
        loaded(call)


def test_a_schema_may_refer_to_its_own_parts() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    entries = loaded({"argsMatching": {"schema": schema}, "result": "x"}).mount("/mcp").entries("t", None, None)
    assert entries is not None
    (entry,) = entries
    assert entry.matcher.matches({"a": 1})
    assert not entry.matcher.matches({"a": "1"})


@pytest.mark.parametrize("odd", ["\ud800", "a\0b", "x" * 501])
def test_names_that_no_database_or_message_can_hold_are_refused(odd: str) -> None:
    for block, call in (({}, {"id": odd}), ({"mount": "/" + odd}, {}), ({"scope": {"testId": odd}}, {})):
        with pytest.raises(UnusableFakes):
            loaded({"anyArgs": True, "result": "x", **call}, **block)


@pytest.mark.parametrize("mount", ["/v1/x", "/messages", "/responses", "/__aimock/y", "/metrics"])
def test_a_mount_that_the_gateway_itself_answers_is_a_conflict(mount: str) -> None:
    with pytest.raises(UnusableFakes) as refused:
        loaded({"anyArgs": True, "result": "x"}, mount=mount)
    assert [error.name for error in refused.value.errors] == ["mcp-fakes/mount-conflict"]


def test_a_number_beyond_all_numbers_is_no_json() -> None:
    with pytest.raises(BadJson):
        parse(b'{"a": 1e400, "b": 12345678901234567890123}')
