"""Hostile tool output is stored, marked, and breaks nothing."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.storable import storable


def deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("hostile", "stored"),
    [
        ("a\ud800b", "a\ufffdb"),
        ({"x\udfff": 1}, {"x\ufffd": 1}),
        (2**70, str(2**70)),
        ("nul\0", "nul\0"),
    ],
)
def test_what_cannot_be_encoded_is_marked(hostile: Any, stored: Any) -> None:
    assert orjson.loads(orjson.dumps(storable(hostile))) == stored


def test_deep_nesting_is_cut_and_said() -> None:
    assert b"nested too deep" in orjson.dumps(storable(deep(5000)))
    assert storable(deep(100)) == deep(100)


def test_a_million_keys_and_five_megabytes_are_stored_as_they_are() -> None:
    keys = {str(i): i for i in range(1_000_000)}
    assert storable(keys) is keys
    text = "x" * 5_000_000
    assert storable(text) == text


@given(st.recursive(st.none() | st.floats() | st.text(alphabet=st.characters()), lambda x: st.lists(x, max_size=3)))
def test_everything_can_be_encoded_afterwards(value: Any) -> None:
    orjson.dumps(storable(value))
