"""A surface that is pinned: what trips it, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from passgrid.drift.tripwire import SURFACE_FILE, fingerprint, merged, pin, pinned, tripped, uses
from passgrid.problems import InvalidInput

READ: dict[str, Any] = {
    "server": "shop", "name": "find", "description": "Finds.",
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}  # fmt: skip
WRITE: dict[str, Any] = {"server": "shop", "name": "order", "inputSchema": {"type": "object"}}


def test_the_order_of_a_list_trips_nothing_and_every_change_does(tmp_path: Path) -> None:
    pin(tmp_path, [READ, WRITE])
    expected = pinned(tmp_path)
    assert expected is not None
    assert tripped(expected, [WRITE, READ]) == []
    assert [one.change for one in tripped(expected, [WRITE])] == ["the server lacks this tool"]
    assert [one.change for one in tripped(expected, [READ, WRITE, {**WRITE, "name": "cancel"}])] == ["a new tool"]
    assert tripped(expected, [{**READ, "description": "Looks."}, WRITE])


def test_a_pin_is_one_tool_a_line_and_always_the_same(tmp_path: Path) -> None:
    first = pin(tmp_path, [READ, WRITE]).read_text()
    assert pin(tmp_path, [WRITE, READ]).read_text() == first
    assert len(first.splitlines()) == 4
    assert fingerprint(pinned(tmp_path) or []) == fingerprint([READ, WRITE])


def test_a_suite_without_a_pin_has_none_and_a_broken_one_is_named(tmp_path: Path) -> None:
    assert pinned(tmp_path) is None
    (tmp_path / SURFACE_FILE).write_text("{}")
    with pytest.raises(InvalidInput, match="is no list of tools"):
        pinned(tmp_path)


def test_read_and_write_come_from_the_server_and_tools_nobody_called_are_told() -> None:
    found = uses(merged([[READ], [WRITE, READ]]), {"find": (7, 3)})
    assert [(one.tool, one.reads, one.calls, one.scenarios) for one in found] == [
        ("find", True, 7, 3),
        ("order", False, 0, 0),
    ]
