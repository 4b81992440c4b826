"""Sessions over recordings of made-up servers: never an answer the server would not have given."""

from __future__ import annotations

from random import Random

import pytest

from benchmarks.matching import Tally, tried

SESSIONS = 500


@pytest.fixture(scope="module")
def tally() -> Tally:
    found = Tally()
    for seed in range(SESSIONS):
        found.add(tried(Random(seed)))
    return found


def test_no_answer_is_one_that_the_server_would_not_have_given(tally: Tally) -> None:
    assert tally.answers > SESSIONS
    assert tally.untrue == 0


def test_every_session_that_keeps_the_dependencies_is_answered_whole(tally: Tally) -> None:
    assert tally.keeping > SESSIONS / 5
    assert tally.keeping_missed == 0


def test_most_other_sessions_a_server_could_be_known_to_answer_are_answered_too(tally: Tally) -> None:
    assert tally.other_answerable > 10
    assert tally.missed > 10, "there are sessions no recording knows"
    print(f"{tally.other_answered} of {tally.other_answerable} other answerable sessions were answered")
