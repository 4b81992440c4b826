"""What is said of a call no recording knows."""

from __future__ import annotations

from passgrid.cassettes.nearest import miss_text
from passgrid.cassettes.session import Call
from tests.unit.passgrid.cassettes.sessions import ask, recording, session

RECORDED = recording(
    [("price", {"of": "bolt", "in": "EUR"}, 3)],
    [("set_price", {"of": "bolt", "to": 4}, "ok")],
    [("price", {"of": "nut", "in": "USD"}, 1)],
)


def test_the_nearest_calls_come_first_with_what_differs_and_how_to_record() -> None:
    text = miss_text(session(RECORDED), Call("price", {"of": "bolt", "in": "CHF"}))
    first, second = text.index('recorded "EUR", now "CHF"'), text.index('recorded "nut", now "bolt"')
    assert text.startswith('tool price: no recorded answer to {"of":"bolt","in":"CHF"} in this state')
    assert first < second
    assert "--mode live --record" in text


def test_a_call_in_another_state_names_both_states() -> None:
    one = session(RECORDED)
    ask(one, "set_price", of="bolt", to=4)
    text = miss_text(one, Call("price", {"of": "bolt", "in": "EUR"}))
    assert "recorded with these arguments, but after no writing call; here it comes after set_price" in text


def test_a_tool_that_was_never_called_names_those_that_were() -> None:
    assert "it was never called; recorded are calls of price, set_price" in miss_text(
        session(RECORDED), Call("find", {})
    )
