"""The semantic fallback: other words, never another question."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.semantic import answered
from benchmarks.semantic_pairs import MEASURING_OTHER, MEASURING_SAME
from passgrid.cassettes.embedding import embedding
from passgrid.cassettes.semantic import alike_by, likeness
from passgrid.cassettes.session import Call, NotRecorded, RecordedSession
from passgrid.cassettes.state_graph import StateGraph
from passgrid.cassettes.wording import may_mean_the_same
from tests.unit.passgrid.cassettes.sessions import TOOLS, ask, recording, served

RECORDED = recording(
    [("find", {"query": "how do I reset my password", "page": 1}, "press the button")],
    [("order", {"what": "two bolts of steel, please"}, "ok")],
    [("find", {"query": "cheap hotel near the station", "page": 1}, "the Plaza")],
)


def session() -> RecordedSession:
    return RecordedSession(StateGraph([RECORDED]), alike_by(embedding(), {tool["name"]: tool for tool in TOOLS}))


def test_no_near_miss_is_answered_and_half_of_the_paraphrases_are() -> None:
    assert answered(MEASURING_OTHER) == []
    assert len(answered(MEASURING_SAME)) >= 15


def test_the_answer_is_marked_and_has_its_score() -> None:
    found = served(session(), "find", query="password reset instructions", page=1)
    assert (found.result, found.how) == ("press the button", "semantic")
    assert found.score is not None
    assert 0.78 <= found.score < 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find", {"query": "password reset instructions", "page": 2}),
        ("find", {"query": "inexpensive hotels close to the train station", "page": 1}),
        ("price", {"query": "password reset instructions", "page": 1}),
        ("order", {"what": "please, two steel bolts"}),
    ],
    ids=["another number", "another state", "another tool", "a writing tool"],
)
def test_what_is_not_answered(tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(NotRecorded):
        session().answer([Call(tool, arguments)])


def test_a_recorded_answer_goes_before_an_alike_one() -> None:
    assert served(session(), "find", query="how do I reset my password", page=1).how == "exact"


def test_a_form_or_a_list_of_values_is_no_free_text() -> None:
    schema = {"properties": {"query": {"type": "string", "enum": ["a b", "b a"]}}}
    assert (
        likeness({"query": "how do I reset my password"}, {"query": "password reset instructions"}, schema, embedding())
        is None
    )


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("flights from london to new york", "flights to london from new york"),
        ("hotels in berlin that allow dogs", "dog friendly hotels in hamburg"),
        ("read src/app.py please", "please read src/api.py"),
        ("orders of May 20", "the orders of 21 May"),
        ("guests who did not pay", "guests who did pay"),
        ("the value of MAX_RETRIES", "value of MIN_RETRIES"),
    ],
)
def test_names_directions_paths_dates_and_negations_must_be_equal(left: str, right: str) -> None:
    assert not may_mean_the_same(left, right)
    assert not may_mean_the_same(right, left)


def test_the_embedding_is_the_published_one() -> None:
    found = embedding().similarity("That is a happy person", "That is a very happy person")
    assert found == pytest.approx(0.9429, abs=5e-4), "as on the model's card"


def test_a_session_goes_on_after_an_alike_answer() -> None:
    one = session()
    ask(one, "find", query="password reset instructions", page=1)
    assert ask(one, "order", what="two bolts of steel, please") == "ok"
