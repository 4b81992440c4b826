"""A session over recordings: what is answered, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from passgrid.cassettes.matching import MatchingRules
from passgrid.cassettes.session import Call, NotRecorded
from tests.unit.passgrid.cassettes.sessions import Failed, ask, recording, served, session

ID_A = "6f1c2a34-0000-4000-8000-00000000000a"
ID_B = "6f1c2a34-0000-4000-8000-00000000000b"
NONCE = "11111111-2222-4333-8444-555555555555"

PRICES = recording(
    [("price", {"of": "bolt"}, 3)],
    [("price", {"of": "nut"}, 1)],
    [("set_price", {"of": "bolt", "to": 4}, "ok")],
    [("price", {"of": "bolt"}, 4)],
)


def test_the_recorded_order_is_exact() -> None:
    one = session(PRICES)
    assert [served(one, "price", of="bolt").how, served(one, "price", of="nut").how] == ["exact", "exact"]
    assert served(one, "set_price", of="bolt", to=4).how == "exact"
    assert served(one, "price", of="bolt").result == 4


def test_reads_may_come_in_any_order_and_again_while_nothing_was_written() -> None:
    one = session(PRICES)
    assert served(one, "price", of="nut").how == "state"
    assert [ask(one, "price", of="bolt"), ask(one, "price", of="bolt")] == [3, 3]


def test_a_read_after_a_write_gives_what_was_recorded_after_that_write() -> None:
    one = session(PRICES)
    ask(one, "set_price", of="bolt", to=4)
    assert ask(one, "price", of="bolt") == 4
    with pytest.raises(NotRecorded):
        ask(one, "price", of="nut")


def test_a_read_that_does_not_depend_on_the_write_is_known_after_it_too() -> None:
    one = session(PRICES, rules=MatchingRules(reads=("find",), depends={"find": (), "price": ("set_price",)}))
    ask(one, "set_price", of="bolt", to=4)
    with pytest.raises(NotRecorded):
        ask(one, "price", of="nut")
    free = session(PRICES, rules=MatchingRules(depends={"price": ()}))
    ask(free, "set_price", of="bolt", to=4)
    assert ask(free, "price", of="nut") == 1


def test_a_tool_that_does_not_say_that_it_reads_is_taken_to_write() -> None:
    recorded = recording([("order", {"n": 1}, "first")], [("order", {"n": 2}, "second")])
    one = session(recorded)
    with pytest.raises(NotRecorded):
        ask(one, "order", n=2)
    assert ask(one, "order", n=1) == "first", "a miss changes nothing"
    reading = session(recorded, rules=MatchingRules(reads=("ord*",)))
    assert ask(reading, "order", n=2) == "second"


def test_polling_gives_each_recorded_answer_once_and_then_nothing_is_known() -> None:
    one = session(recording([("price", {}, "pending")], [("price", {}, "done")]))
    assert [ask(one, "price"), ask(one, "price")] == ["pending", "done"]
    with pytest.raises(NotRecorded):
        ask(one, "price")


def test_a_recorded_error_is_answered_as_one() -> None:
    one = session(recording([("price", {"of": "?"}, Failed("no such thing"))]))
    found = served(one, "price", of="?")
    assert (found.result, found.error) == (None, "no such thing")


def test_overlapping_calls_are_one_step_in_any_order() -> None:
    recorded = recording([("price", {"of": "bolt"}, 4), ("set_price", {"of": "bolt", "to": 4}, "ok")])
    calls = [Call("set_price", {"of": "bolt", "to": 4}), Call("price", {"of": "bolt"})]
    assert [found.result for found in session(recorded).answer(calls)] == ["ok", 4]
    alone = session(recorded)
    with pytest.raises(NotRecorded):
        ask(alone, "price", of="bolt")
    assert ask(alone, "set_price", of="bolt", to=4) == "ok"
    with pytest.raises(NotRecorded):
        ask(alone, "price", of="bolt")


def test_an_id_that_a_recording_made_is_followed_into_the_others() -> None:
    first = recording([("order", {"n": 1}, {"id": ID_A})], [("price", {"order": ID_A}, f"{ID_A} costs 3")])
    second = recording([("order", {"n": 1}, {"id": ID_B})], [("find", {"order": ID_B}, {"of": ID_B, "what": "bolt"})])
    one = session(first, second)
    assert ask(one, "order", n=1) == {"id": ID_A}
    assert ask(one, "find", order=ID_A) == {"of": ID_A, "what": "bolt"}
    assert ask(one, "price", order=ID_A) == f"{ID_A} costs 3"
    with pytest.raises(NotRecorded):
        ask(one, "find", order=ID_B)


def test_overlapping_calls_do_not_ask_for_another_recordings_thing_either() -> None:
    first = recording([("order", {"n": 1}, {"id": ID_A})])
    both = [("price", {"order": ID_B}, 3), ("set_price", {"order": ID_B, "to": 4}, "ok")]
    second = recording([("order", {"n": 1}, {"id": ID_B})], both)
    calls = [[Call("price", {"order": it}), Call("set_price", {"order": it, "to": 4})] for it in (ID_B, ID_A)]
    one = session(first, second)
    assert ask(one, "order", n=1) == {"id": ID_A}
    with pytest.raises(NotRecorded):
        one.answer(calls[0])
    assert [found.result for found in one.answer(calls[1])] == [3, "ok"]


def test_a_nonce_of_the_agent_is_none_of_the_question_and_comes_back_in_the_answer() -> None:
    recorded = recording([("order", {"n": 1, "key": ID_A}, {"accepted": ID_A})])
    assert ask(session(recorded), "order", n=1, key=NONCE) == {"accepted": NONCE}


def test_an_id_that_the_task_names_is_part_of_the_question() -> None:
    said = f"What costs {ID_A}?"
    recorded = recording([("price", {"of": ID_A}, 3)], said=said)
    with pytest.raises(NotRecorded):
        ask(session(recorded, said=said), "price", of=ID_B)
    assert ask(session(recorded, said=said), "price", of=ID_A) == 3


@pytest.mark.parametrize("value", ["2026-05-20", "2026-05-20T10:00:00", "R-2", "7"])
def test_what_people_ask_for_is_never_taken_for_volatile(value: str) -> None:
    recorded = recording([("price", {"on": "2026-05-21", "request_id": "R-1", "n": "5"}, 3)])
    with pytest.raises(NotRecorded):
        ask(session(recorded), "price", on="2026-05-21", request_id=value, n="5")
    with pytest.raises(NotRecorded):
        ask(session(recorded), "price", on=value, request_id="R-1", n="5")


def test_clock_readings_and_temporary_folders_are_volatile() -> None:
    recorded = recording(
        [("price", {"at": "2026-05-21T10:00:00.123Z", "in": "/tmp/passgrid-ab12/list.txt"}, "/tmp/passgrid-ab12: 3")]
    )
    one = session(recorded)
    assert ask(one, "price", at="2027-01-01T09:30:00.5Z", **{"in": "/tmp/x9/list.txt"}) == "/tmp/x9: 3"
    with pytest.raises(NotRecorded):
        ask(session(recorded), "price", at="2027-01-01T09:30:00.5Z", **{"in": "/tmp/x9/other.txt"})


def test_a_place_that_the_suite_calls_volatile_decides_nothing() -> None:
    recorded = recording([("order", {"n": 1, "meta": {"seen": 17}}, "ok")])
    rules = MatchingRules(volatile={"order": ("meta.seen",)})
    assert ask(session(recorded, rules=rules), "order", n=1, meta={"seen": 99}) == "ok"
    with pytest.raises(NotRecorded):
        ask(session(recorded), "order", n=1, meta={"seen": 99})


def test_numbered_ids_are_followed_where_the_suite_names_them() -> None:
    first = recording([("order", {"n": 1}, '{"id": 17}')], [("price", {"order": 17}, '{"id": 17, "cost": 3}')])
    second = recording([("order", {"n": 1}, '{"id": 18}')], [("find", {"order": 18}, '{"id": 18, "what": "bolt"}')])
    rules = MatchingRules(ids={"order": ("id",), "price": ("id",), "find": ("id",)})
    one = session(first, second, rules=rules)
    assert ask(one, "order", n=1) == '{"id": 17}'
    assert ask(one, "find", order=17) == '{"id":17,"what":"bolt"}'
    with pytest.raises(NotRecorded):
        ask(one, "find", order=18)


def test_recordings_that_contradict_each_other_never_answer_for_each_other() -> None:
    monday = recording([("price", {"of": "bolt"}, 3)], [("price", {"of": "nut"}, 1)])
    friday = recording([("price", {"of": "bolt"}, 5)], [("find", {}, "sold out")])
    one = session(monday, friday)
    assert ask(one, "price", of="bolt") == 3
    with pytest.raises(NotRecorded):
        ask(one, "find")
    other = session(monday, friday)
    assert ask(other, "find") == "sold out"
    assert ask(other, "price", of="bolt") == 5


def test_a_session_that_ended_where_a_recording_did_has_its_files() -> None:
    files: dict[str, Any] = {"changed": {"a.txt": "4"}, "deleted": []}
    recorded = recording(
        [("price", {}, 3)], [("set_price", {"to": 4}, "ok")], workspace=files
    )  # fmt: skip
    one = session(recorded)
    assert one.end_workspace() is None
    ask(one, "set_price", to=4)
    assert one.end_workspace() == files
