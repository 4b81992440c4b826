"""The text by which a try's artifacts are told from everybody else's."""

from __future__ import annotations

from workers.orders import namespace_of


def test_no_two_tries_share_one_wherever_the_same_run_is_submitted() -> None:
    ones = [
        namespace_of(site, run, attempt, fence)
        for site in ("1/5", "2/5")
        for run in ("r1", "r2")
        for attempt in ("a", "b")
        for fence in (1, 2)
    ]
    assert len(set(ones)) == len(ones)


def test_none_is_part_of_another() -> None:
    ones = [namespace_of("s", "r", "a", fence) for fence in (1, 10, 11, 100)]
    assert not any(one in other for one in ones for other in ones if one != other)
