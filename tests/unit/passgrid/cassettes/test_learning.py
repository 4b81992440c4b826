"""Recording twice shows what is volatile."""

from __future__ import annotations

from passgrid.cassettes.learning import Learned, learned, rules_of
from tests.unit.passgrid.cassettes.sessions import ask, recording, session

FIRST = recording(
    [("order", {"n": 1, "at": 1764500000}, '{"id": "T-17", "items": [{"lot": 5}]}')],
    [("price", {"order": "T-17"}, "3")],
)
SECOND = recording(
    [("order", {"n": 1, "at": 1764586400}, '{"id": "T-21", "items": [{"lot": 6}]}')],
    [("price", {"order": "T-21"}, "3")],
    [("find", {"order": "T-21"}, "bolt")],
)


def test_places_that_differ_are_learned_and_ids_that_were_made_are_not() -> None:
    assert learned([(FIRST, SECOND)]) == [
        Learned("order", "arguments", "at", ("1764500000", "1764586400")),
        Learned("order", "result", "id", ("T-17", "T-21")),
        Learned("order", "result", "items.*.lot", ("5", "6")),
    ]


def test_what_was_learned_makes_the_recordings_one() -> None:
    rules = rules_of(learned([(FIRST, SECOND)]))
    one = session(FIRST, SECOND, rules=rules)
    assert ask(one, "order", n=1, at=1764999999) == '{"id": "T-17", "items": [{"lot": 5}]}'
    assert ask(one, "find", order="T-17") == "bolt"


def test_equal_recordings_teach_nothing() -> None:
    assert learned([(FIRST, FIRST)]) == []
