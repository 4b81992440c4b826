from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics import Tally, advise, advised_scenarios, attempts_to_see, required_scenarios

Z = 1.959963984540054 + 0.8416212335729143


@pytest.mark.parametrize(("attempts", "scenarios"), [(1, 1098.8), (4, 392.4), (10, 251.2)])
def test_the_worked_example(attempts: int, scenarios: float) -> None:
    needed = required_scenarios(0.05, between=0.05, within_baseline=0.15, within_candidate=0.15, attempts=attempts)
    assert needed == pytest.approx(scenarios, abs=0.05)
    assert needed == pytest.approx(Z**2 * (0.05 + 0.3 / attempts) / 0.05**2)


def test_arms_may_be_noisy_each_in_its_own_way() -> None:
    needed = required_scenarios(0.1, between=0.02, within_baseline=0.1, within_candidate=0.2, attempts=2)
    assert needed == pytest.approx(Z**2 * 0.17 / 0.01)


def test_whole_scenarios_leave_room_for_t() -> None:
    assert (
        advised_scenarios(0.05, between=0.05, within_baseline=0.15, within_candidate=0.15, attempts=4)
        == ceil(392.44 + 2.92)
        == 396
    )


@pytest.mark.parametrize(
    ("delta", "between", "within", "attempts"),
    [
        (0, 0.1, 0.1, 1),
        (float("inf"), 0.1, 0.1, 1),
        (-0.1, 0.1, 0.1, 1),
        (0.1, -0.1, 0.1, 1),
        (0.1, 0.1, -0.1, 1),
        (0.1, 0.1, 0.1, 0),
    ],
)
def test_nonsense_is_refused(delta: float, between: float, within: float, attempts: int) -> None:
    with pytest.raises(ValueError, match="need"):
        required_scenarios(delta, between=between, within_baseline=within, within_candidate=0.1, attempts=attempts)
    with pytest.raises(ValueError, match="need"):
        required_scenarios(delta, between=between, within_baseline=0.1, within_candidate=within, attempts=attempts)


@pytest.mark.parametrize(("rate", "attempts"), [(1, 1), (0.96, 1), (0.94, 2), (0.5, 5), (0.1, 29), (0.01, 299)])
def test_attempts_to_see_something_once(rate: float, attempts: int) -> None:
    assert attempts_to_see(rate) == attempts


@given(st.floats(1e-6, 0.999))
def test_attempts_to_see_is_the_smallest_number(rate: float) -> None:
    n = attempts_to_see(rate)
    assert (1 - rate) ** n <= 0.05 + 1e-9
    assert n == 1 or (1 - rate) ** (n - 1) > 0.05 - 1e-9


@pytest.mark.parametrize("rate", [0, -0.1, 1.1, float("nan")])
def test_what_never_happens_is_never_seen(rate: float) -> None:
    with pytest.raises(ValueError, match="rate"):
        attempts_to_see(rate)


def suite(*tallies: tuple[int, int]) -> dict[str, Tally]:
    return {f"s{i}": Tally(*tally) for i, tally in enumerate(tallies)}


def test_advice_from_what_was_measured() -> None:
    before, after = suite((4, 2), (4, 4), (4, 2), (4, 4)), suite((4, 4), (4, 2), (4, 0), (4, 4))
    # within, unbiased: 2 * 2 / (4 * 3) = 1/3 in two scenarios of the baseline and in one of the candidate
    within = (1 / 6, 1 / 12)
    # differences .5 -.5 -.5 0: variance .22917, of which (1/6 + 1/12) / 4 = .0625 is chance
    between = 0.6875 / 3 - 0.0625
    advice = advise(before, after, 0.15)
    assert advice is not None
    needed = Z**2 * (between + sum(within) / 4) / 0.15**2 + 2.9207
    assert (advice.scenarios, advice.attempts) == (4, 4)
    assert advice.scenarios_needed == ceil(needed)
    assert advice.more_scenarios == ceil(needed) - 4
    assert advice.attempts_needed is None  # four scenarios that differ so much are too few, however often they run
    assert advice.more_attempts is None


def test_where_scenarios_react_alike_more_attempts_help() -> None:
    before, after = suite(*[(2, 1)] * 40), suite(*[(2, 1)] * 40)
    advice = advise(before, after, 0.15)
    assert advice is not None
    # within: 1 * 1 / (2 * 1) = 1/2 in each arm, nothing between
    assert advice.attempts_needed == ceil(1.0 / ((40 - 2.9207) * 0.15**2 / Z**2)) == 10
    assert advice.more_attempts == 8
    assert advice.scenarios_needed == ceil(Z**2 * 0.5 / 0.15**2 + 2.9207)


def test_enough_is_enough() -> None:
    advice = advise(suite(*[(20, 10), (20, 11)] * 50), suite(*[(20, 11), (20, 10)] * 50), 0.5)
    assert advice is not None
    assert (advice.more_scenarios, advice.more_attempts) == (0, 0)


def test_agreement_of_all_attempts_is_no_certainty() -> None:
    advice = advise(suite(*[(5, 5)] * 10), suite(*[(5, 5)] * 10), 0.1)
    assert advice is not None
    within = 6 * 1 / (7 * 8)  # E[p(1-p)] of Beta(6, 1)
    assert advice.scenarios_needed == ceil(Z**2 * 2 * within / 5 / 0.01 + 2.9207)


def test_single_attempts_take_the_posterior_too() -> None:
    advice = advise(suite(*[(1, 1)] * 10), suite(*[(1, 1)] * 10), 0.1)
    assert advice is not None
    assert advice.scenarios_needed == ceil(Z**2 * 2 * (2 * 1 / (3 * 4)) / 0.01 + 2.9207)


def test_single_attempts_of_both_outcomes() -> None:
    advice = advise(suite((3, 1), (1, 0)), suite((3, 1), (1, 0)), 0.1)
    assert advice is not None
    within = (2 * 3 / (5 * 6) + 1 * 2 / (3 * 4)) / 2
    assert advice.attempts == 1  # the fewest
    assert advice.scenarios_needed == ceil(Z**2 * 2 * within / 0.01 + 2.9207)


def test_one_attempt_may_be_enough() -> None:
    advice = advise(suite(*[(2, 1)] * 40), suite(*[(2, 1)] * 40), 0.9)
    assert advice is not None
    assert (advice.attempts_needed, advice.more_attempts) == (1, 0)


def test_only_scenarios_measured_in_both_arms_count() -> None:
    before, after = suite((4, 2), (4, 1), (4, 2)), suite((4, 2), (4, 3), (0, 0))
    after["other"] = Tally(9, 9)
    advice = advise(before, after, 0.1)
    assert advice is not None
    assert advice.scenarios == 2
    del after["s1"]
    assert advise(before, after, 0.1) is None
    assert advise({}, {}, 0.1) is None
