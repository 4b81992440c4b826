import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics import Tally, coverage


def test_errors_are_no_failures_and_no_passes() -> None:
    found = coverage([Tally(1, 1)], [4])
    assert (found.valid, found.wanted, found.errors, found.share) == (1, 4, 3, 0.25)
    assert (found.rate, found.low, found.high) == (1.0, 0.25, 1.0)
    assert found.headline_withheld


def test_only_errors_have_no_rate_but_bounds() -> None:
    found = coverage([Tally(0, 0)], [4])
    assert (found.rate, found.low, found.high, found.share) == (None, 0.0, 1.0, 0.0)
    assert found.headline_withheld


@pytest.mark.parametrize(("valid", "enough"), [(100, True), (95, True), (94, False)])
def test_a_headline_needs_95_percent(valid: int, enough: bool) -> None:
    found = coverage([Tally(valid, 50)], [100])
    assert found.enough is enough
    assert found.headline_withheld is not enough


def test_counts_are_over_attempts_and_rates_over_scenarios() -> None:
    found = coverage([Tally(8, 6), Tally(1, 1)], [10, 2])
    assert (found.valid, found.wanted, found.share) == (9, 12, 0.75)
    assert found.rate == pytest.approx((6 / 8 + 1) / 2)
    assert found.low == pytest.approx((6 / 10 + 1 / 2) / 2)
    assert found.high == pytest.approx((8 / 10 + 2 / 2) / 2)


def test_what_was_not_wanted_has_no_part() -> None:
    assert coverage([Tally(2, 1), Tally(0, 0)], [2, 0]) == coverage([Tally(2, 1)], [2])
    nothing = coverage([], [])
    assert (nothing.share, nothing.rate, nothing.low, nothing.high) == (None, None, None, None)
    assert nothing.headline_withheld


@pytest.mark.parametrize(("tallies", "wanted"), [([Tally(5, 1)], [4]), ([Tally(5, 1)], []), ([], [3])])
def test_counts_that_contradict_are_refused(tallies: list[Tally], wanted: list[int]) -> None:
    with pytest.raises(ValueError, match="wanted"):
        coverage(tallies, wanted)


@given(st.integers(1, 50), st.data())
def test_the_rate_lies_between_the_bounds(wanted: int, data: st.DataObject) -> None:
    valid = data.draw(st.integers(1, wanted))
    found = coverage([Tally(valid, data.draw(st.integers(0, valid)))], [wanted])
    assert found.rate is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.rate <= found.high <= 1
    assert found.high - found.low == pytest.approx(found.errors / wanted)
