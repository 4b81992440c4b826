"""When two sets of arguments are the same call."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.cassettes.canonical import canonical_arguments


@pytest.mark.parametrize(
    ("left", "right"),
    [({"b": 2, "a": 1}, {"a": 1, "b": 2}), ({"a": 1}, {"a": 1.0}), (None, {}), ({"a": [1.0]}, {"a": [1]})],
)
def test_equal(left: Any, right: Any) -> None:
    assert canonical_arguments(left) == canonical_arguments(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": "1"}, {"a": 1}),
        ({"a": None}, {}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": {}}, {"a": []}),
        ({"a": True}, {"a": 1}),
        ({"a": "e\u0301"}, {"a": "\u00e9"}),
    ],
)
def test_different(left: Any, right: Any) -> None:
    assert canonical_arguments(left) != canonical_arguments(right)


@given(st.dictionaries(st.text(), st.integers(-(2**60), 2**60) | st.text(), max_size=6))
def test_the_order_of_keys_never_matters(arguments: dict[str, Any]) -> None:
    turned = dict(reversed(arguments.items()))
    assert canonical_arguments(arguments) == canonical_arguments(turned)
