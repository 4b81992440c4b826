from itertools import product
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passgrid.statistics import Interval, PairedDifference, mcnemar_exact, paired_difference
from passgrid.statistics.distributions import t_quantile

Values = dict[str, float | None]


def arms(before: list[float], after: list[float]) -> tuple[Values, Values]:
    names = [f"s{i:03}" for i in range(len(before))]
    return dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True))


def exact_p(differences: list[float]) -> float:
    observed = abs(sum(differences)) - 1e-9
    flips = list(product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(f, differences, strict=True))) >= observed for f in flips) / len(flips)


def test_a_worked_example() -> None:
    # differences .25 0 .25 .5 0 -.25: mean .125, squares about it sum to .34375
    difference = paired_difference(*arms([0.75, 0.75, 0.25, 0.5, 0, 0.5], [1, 0.75, 0.5, 1, 0, 0.25]))
    se = sqrt(0.34375 / 5 / 6)
    assert difference.mean == pytest.approx(0.125)
    assert difference.se == pytest.approx(se)
    assert (difference.wins, difference.losses, difference.ties) == (3, 1, 2)
    assert (difference.p_value, difference.p_exact) == (0.5, True)
    assert difference.interval is not None
    assert difference.interval.method == "t"
    assert difference.interval.low == pytest.approx(0.125 - 2.5705818366147395 * se)
    assert difference.interval.high == pytest.approx(0.125 + 2.5705818366147395 * se)


def test_the_direction_is_candidate_minus_baseline() -> None:
    better = paired_difference(*arms([0.1, 0.2, 0.0], [0.9, 0.8, 1.0]))
    assert better.mean == pytest.approx(0.8)
    assert (better.wins, better.losses) == (3, 0)


def test_only_the_intersection_is_compared_and_the_rest_is_named() -> None:
    before: Values = {"a": 0.5, "b": 0.5, "gone": 1.0, "n/a now": 1.0, "never": None}
    after: Values = {"a": 1.0, "b": 0.5, "new": 0.0, "n/a now": None, "n/a before": 0.3, "never": None}
    before["n/a before"] = None
    difference = paired_difference(before, after)
    assert difference.scenarios == ("a", "b")
    assert difference.missing_in_baseline == ("n/a before", "never", "new")
    assert difference.missing_in_candidate == ("gone", "n/a now", "never")
    assert difference.mean == 0.25


def test_nothing_in_common_is_not_available() -> None:
    for before, after in (({}, {}), ({"a": 1.0}, {"b": 1.0}), ({"a": 1.0}, {"a": None})):
        difference = paired_difference(before, after)
        assert (difference.mean, difference.se, difference.interval, difference.p_value) == (None,) * 4
        assert (difference.wins, difference.losses, difference.ties) == (0, 0, 0)


def test_one_scenario_has_a_mean_only() -> None:
    difference = paired_difference({"a": 0.25}, {"a": 0.75})
    assert (difference.mean, difference.se, difference.interval, difference.p_value) == (0.5, None, None, 1.0)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_what_is_no_rate_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="scenario 'a'"):
        paired_difference({"a": 0.5}, {"a": value})


def test_rounding_is_a_tie() -> None:
    difference = paired_difference({"a": 0.1 + 0.2, "b": 0.5}, {"a": 0.3, "b": 1.0})
    assert (difference.wins, difference.ties, difference.losses) == (1, 1, 0)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
@settings(max_examples=50)
def test_few_sign_flips_are_all_counted(quarters: list[int]) -> None:
    differences = [quarter / 4 for quarter in quarters]
    found = paired_difference(*arms([max(0, -d) for d in differences], [max(0, d) for d in differences]))
    assert found.p_exact
    assert found.p_value == pytest.approx(exact_p(differences))


@given(st.integers(0, 8), st.integers(0, 8), st.integers(1, 5))
def test_of_single_attempts_the_sign_flips_are_mcnemar(losses: int, wins: int, ties: int) -> None:
    before = [1.0] * losses + [0.0] * wins + [1.0] * ties
    after = [0.0] * losses + [1.0] * wins + [1.0] * ties
    found = paired_difference(*arms(before, after))
    assert (found.losses, found.wins, found.ties) == (losses, wins, ties)
    assert found.p_value == pytest.approx(mcnemar_exact(losses, wins))


def test_many_sign_flips_are_drawn_with_a_seed() -> None:
    before, after = arms([0.0] * 12 + [1.0] * 28, [1.0] * 12 + [0.0] * 28)
    found, again = paired_difference(before, after, seed=1), paired_difference(before, after, seed=1)
    other = paired_difference(before, after, seed=2)
    assert found == again
    assert not found.p_exact
    assert found.p_value != other.p_value
    assert found.p_value == pytest.approx(mcnemar_exact(28, 12), abs=0.005)


@pytest.mark.parametrize(("moved", "exact"), [(16, True), (17, False)])
def test_from_17_differences_on_flips_are_drawn(moved: int, exact: bool) -> None:
    assert paired_difference(*arms([0.0] * 40, [0.5] * moved + [0.0] * (40 - moved))).p_exact is exact


@pytest.mark.parametrize("pairs", [20, 500])
def test_exactly_10_000_flips_are_drawn_in_however_many_blocks(pairs: int) -> None:
    # The sum of the differences is zero, which every draw reaches.
    assert paired_difference(*arms([0.0, 1.0] * pairs, [1.0, 0.0] * pairs)).p_value == 1


def test_a_drawn_p_is_never_zero() -> None:
    found = paired_difference(*arms([0.0] * 60, [1.0 - i / 100 for i in range(60)]))
    assert found.p_value == pytest.approx(1 / 10_001)


def test_no_difference_has_p_1() -> None:
    assert paired_difference(*arms([0.5] * 40, [0.5] * 40)).p_value == 1


def test_from_30_scenarios_the_interval_is_the_bootstrap() -> None:
    before, after = arms([(i * 37 % 41) / 41 for i in range(60)], [(i * 17 % 43) / 43 for i in range(60)])
    found = paired_difference(before, after)
    assert found.interval is not None
    assert found.se is not None
    assert found.mean is not None
    assert found.interval.method == "bootstrap"
    half = 1.96 * found.se
    assert found.interval.low == pytest.approx(found.mean - half, abs=0.1 * half)
    assert found.interval.high == pytest.approx(found.mean + half, abs=0.1 * half)
    fewer = paired_difference(dict(list(before.items())[:29]), dict(list(after.items())[:29])).interval
    assert fewer is not None
    assert fewer.method == "t"
    just = paired_difference(dict(list(before.items())[:30]), dict(list(after.items())[:30])).interval
    assert just is not None
    assert just.method == "bootstrap"


def test_the_interval_is_clamped() -> None:
    interval = paired_difference(*arms([0, 0, 0, 1], [1, 1, 1, 1])).interval
    assert interval is not None
    assert interval.high == 1
    interval = paired_difference(*arms([1, 1, 1, 1], [0, 0, 0, 1])).interval
    assert interval is not None
    assert interval.low == -1


def interval_of(difference: PairedDifference) -> Interval:
    assert difference.interval is not None
    return difference.interval


@pytest.mark.parametrize("scenarios", [2, 12, 30, 80])
def test_differences_that_all_agree_are_no_certainty(scenarios: int) -> None:
    q = 1 - 0.025 ** (1 / (scenarios + 1))
    same = interval_of(paired_difference(*arms([1.0] * scenarios, [1.0] * scenarios)))
    assert (same.low, same.high, same.method) == (pytest.approx(-q), pytest.approx(q), "posterior")
    lost = interval_of(paired_difference(*arms([0.8] * scenarios, [0.6] * scenarios)))
    assert (lost.low, lost.high) == (pytest.approx(-0.2 * (1 - q) - q), pytest.approx(-0.2 * (1 - q) + q))
    all_lost = interval_of(paired_difference(*arms([1.0] * scenarios, [0.0] * scenarios)))
    assert (all_lost.low, all_lost.high) == (-1, pytest.approx(-1 + 2 * q))


def test_more_trials_behind_differences_that_agree() -> None:
    before, after = arms([1.0] * 12, [1.0] * 12)
    q = 1 - 0.025 ** (1 / 61)
    assert interval_of(paired_difference(before, after, trials=60)).high == pytest.approx(q)
    assert interval_of(paired_difference(before, after, trials=1)).high == pytest.approx(1 - 0.025**0.5)
    with pytest.raises(ValueError, match="trials"):
        paired_difference(before, after, trials=0)


def test_trials_do_not_change_differences_with_a_spread() -> None:
    before, after = arms([1.0, 1.0, 0.5], [1.0, 0.5, 0.25])
    assert paired_difference(before, after, trials=60) == paired_difference(before, after)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=29))
@settings(max_examples=50)
def test_swapping_the_arms_swaps_the_signs(pairs: list[tuple[float, float]]) -> None:
    before, after = arms([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    there, back = paired_difference(before, after), paired_difference(after, before)
    assert there.mean == pytest.approx(-(back.mean or 0), abs=1e-12)
    assert there.p_value == back.p_value
    assert (there.wins, there.losses) == (back.losses, back.wins)
    assert interval_of(there).low == pytest.approx(-interval_of(back).high, abs=1e-12)
    assert interval_of(there).low <= (there.mean or 0) + 1e-12


def test_t_uses_the_degrees_of_the_scenarios() -> None:
    found = paired_difference(*arms([0.5] * 10, [0.5 + i / 100 for i in range(10)]))
    assert found.mean is not None
    assert found.se is not None
    assert interval_of(found).high - found.mean == pytest.approx(t_quantile(0.975, 9) * found.se)
