from typing import Any

import pytest

from passgrid.drift.projection import projected
from passgrid.drift.results import Answer, answer_differences
from passgrid.drift.volatile import is_moment, steady


def told(recorded: Any, live: Any) -> list[tuple[str, str, str]]:
    return [(one.place, one.change, str(one.severity)) for one in answer_differences(Answer(recorded), Answer(live))]


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1.0, 2], "a": 1.0}),
        ('{"amount": 22}', {"amount": 22.0}),
        ("7.0", "7"),
        ("at 2026-11-30T09:00:00Z", "at 2025-01-01T00:00:00.123+02:00"),
        ({"id": "0b4d2c1e-5f11-4c9d-8a4e-3f2b1a0c9d8e"}, {"id": "aaaaaaaa-5f11-4c9d-8a4e-3f2b1a0c9d8e"}),
        ({"created_at": 1_700_000_000}, {"created_at": 1_800_000_000.5}),
        ("wrote /tmp/a1/x.txt", "wrote /tmp/zz9/x.txt"),
        ("plain", "plain"),
    ],
    ids=["order", "json-in-text", "numbers", "times", "uuids", "moments", "paths", "text"],
)
def test_answers_that_mean_the_same_do_not_differ(recorded: Any, live: Any) -> None:
    assert told(recorded, live) == []


@pytest.mark.parametrize(
    ("recorded", "live", "found"),
    [
        ({"address": {"province": "TX", "zip": "1"}}, {"address": {"state": "TX", "zip": "1"}},
         [("address.province", "renamed to state", "breaking")]),
        ({"a": 1}, {"b": 2}, [("a", "removed", "breaking"), ("b", "added", "compatible")]),
        ({"a": 1, "b": 1}, {"c": 1}, [("a", "removed", "breaking"), ("b", "removed", "breaking"),
                                     ("c", "added", "compatible")]),
        ({"a": 1}, {"a": 1, "b": None}, [("b", "added", "compatible")]),
        ({"a": "1"}, {"a": 1}, [("a", "is number instead of text", "breaking")]),
        ({"a": True}, {"a": 1}, [("a", "is number instead of boolean", "breaking")]),
        ({"a": "x"}, {"a": None}, [("a", "has another value", "value-only")]),
        ({"SFO": "San Francisco"}, [{"iata": "SFO"}], [("", "is array instead of object", "breaking")]),
        ([{"n": 1}, {"n": 2}], [{"n": 3}, {"n": 4}], [("[].n", "has another value", "value-only")]),
        ([1, 2], [1], [("", "has another number of elements", "value-only")]),
        ({"card_4421": {"sum": 1}}, {"card_4421": {"sum": 2}}, [("{}.sum", "has another value", "value-only")]),
        ({"card_4421": 1}, {"card_9999": 2}, [("{}", "is not there", "value-only"), ("{}", "added", "value-only")]),
        ("2024-05-20", "2024-05-21", [("", "has another value", "value-only")]),
    ],
    ids=["renamed", "replaced", "ambiguous", "added", "type", "boolean", "null", "kind", "elements", "length", "ids",
         "other-ids", "day"],
)  # fmt: skip
def test_each_difference_has_a_place_and_says_what_it_means(
    recorded: Any, live: Any, found: list[tuple[str, str, str]]
) -> None:
    assert told(recorded, live) == found


@pytest.mark.parametrize(
    ("recorded", "live", "found"),
    [
        (Answer({"a": 1}), Answer("no such user", error=True), ("is an error now", "breaking")),
        (Answer("no such user", error=True), Answer({"a": 1}), ("is no error any more", "compatible")),
        (Answer("Error: payment"), Answer("Error: Payment", error=True), ("has another value", "value-only")),
        (Answer("Error: x"), Answer({"a": 1}), ("is no error any more", "compatible")),
    ],
    ids=["now", "no-more", "unmarked", "unmarked-no-more"],
)
def test_an_error_is_one_whether_it_is_marked_or_says_so(
    recorded: Answer, live: Answer, found: tuple[str, str]
) -> None:
    (one,) = answer_differences(recorded, live)
    assert (one.change, one.severity) == found


def test_the_same_text_is_equal_though_one_side_marks_it_as_an_error() -> None:
    assert answer_differences(Answer("not found"), Answer("not found", error=True)) == []


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (None, {"m": {"content": '{"a": [7]}'}}),
        ("m.content", '{"a": [7]}'),
        ("m.content.a.0", 7),
        ("m.other", {"m": {"content": '{"a": [7]}'}}),
        ("m.content.a.3", {"m": {"content": '{"a": [7]}'}}),
    ],
)
def test_a_projection_goes_into_json_in_texts_and_leaves_alone_what_does_not_have_its_place(
    path: str | None, found: Any
) -> None:
    assert projected({"m": {"content": '{"a": [7]}'}}, path) == found


def test_a_day_or_a_time_of_day_is_data() -> None:
    assert steady("on 2024-05-20 at 06:00:00") == "on 2024-05-20 at 06:00:00"
    assert not is_moment("price", 1_700_000_000)
    assert not is_moment("created_at", 12)
