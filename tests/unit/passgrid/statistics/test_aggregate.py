from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics import (
    Tally,
    clustered_standard_error,
    common_k,
    mean_pass_at,
    mean_pass_hat,
    posterior_mean,
    scenario_values,
    standard_error,
)

#: The worked example of the specification.
SUITE = [Tally(5, 0), Tally(5, 1), Tally(5, 3), Tally(5, 5), Tally(3, 2)]


@pytest.mark.parametrize(
    ("k", "at", "hat"),
    [
        (1, Fraction(37, 75), Fraction(37, 75)),
        (2, Fraction(33, 50), Fraction(49, 150)),
        (3, Fraction(18, 25), Fraction(11, 50)),
        (4, None, None),
        (5, None, None),
    ],
)
def test_the_mean_is_over_scenarios_and_stops_at_the_fewest_attempts(
    k: int, at: Fraction | None, hat: Fraction | None
) -> None:
    assert mean_pass_at(SUITE, k) == (None if at is None else pytest.approx(float(at), rel=1e-14))
    assert mean_pass_hat(SUITE, k) == (None if hat is None else pytest.approx(float(hat), rel=1e-14))


def test_attempts_are_never_pooled() -> None:
    assert mean_pass_at(SUITE, 1) != pytest.approx(11 / 23)
    assert mean_pass_at([Tally(100, 100), Tally(1, 0)], 1) == 0.5


def test_a_scenario_without_valid_attempts_leaves_no_mean() -> None:
    assert mean_pass_at([Tally(5, 5), Tally(0, 0)], 1) is None
    assert mean_pass_hat([Tally(5, 5), Tally(0, 0)], 1) is None


def test_no_scenario_has_no_mean() -> None:
    assert mean_pass_at([], 1) is None
    assert mean_pass_hat([], 1) is None
    assert scenario_values([], "at", 1) is None
    assert posterior_mean([]) is None


def test_values_keep_the_order_of_scenarios() -> None:
    assert scenario_values(SUITE[:4], "at", 5) == [0, 1, 1, 1]
    assert scenario_values(SUITE[:4], "hat", 5) == [0, 0, 0, 1]


def test_a_k_below_1_is_refused() -> None:
    with pytest.raises(ValueError, match="k >= 1"):
        mean_pass_at(SUITE, 0)


def test_arms_compared_stop_together() -> None:
    assert common_k([SUITE, [Tally(9, 1), Tally(2, 1)]]) == 2
    assert common_k([SUITE, [Tally(0, 0)]]) == 0
    assert common_k([]) == 0


@pytest.mark.parametrize(("valid", "passed"), [(1, 2), (-1, 0), (3, -1), (0, 1), (-1, -1)])
def test_a_tally_is_checked(valid: int, passed: int) -> None:
    with pytest.raises(ValueError, match="0 <= passed <= valid"):
        Tally(valid, passed)


def test_a_tally_counts_whole_attempts() -> None:
    with pytest.raises(TypeError):
        Tally(3, 1.5)  # pyright: ignore[reportArgumentType]


def test_the_posterior_over_scenarios() -> None:
    found = posterior_mean([Tally(4, 0), Tally(4, 1), Tally(4, 2), Tally(4, 4)])
    assert found is not None
    variances = [Fraction(a * (6 - a), 36 * 7) for a in (1, 2, 3, 5)]
    assert found[0] == pytest.approx(11 / 24, rel=1e-14)
    assert found[1] == pytest.approx(float(sum(variances) / 16) ** 0.5, rel=1e-14)


def test_standard_error_of_a_mean() -> None:
    assert standard_error([1, 2, 3, 4]) == pytest.approx((5 / 3 / 4) ** 0.5, rel=1e-14)
    assert standard_error([0.0, 1.0]) == pytest.approx(0.5)
    assert standard_error([1.0]) is None
    assert standard_error([]) is None


def test_clustered_standard_error_of_unequal_groups() -> None:
    # mean 3/5; group sums of deviations: 2 - 2 * 3/5 = 4/5 and 1 - 3 * 3/5 = -4/5
    expected = float(Fraction(16, 25) * 2 * Fraction(2, 1)) ** 0.5 / 5
    assert clustered_standard_error([[1, 1], [1, 0, 0], []]) == pytest.approx(expected, rel=1e-14)


def test_two_clusters_are_enough() -> None:
    assert clustered_standard_error([[1.0], [0.0]]) == pytest.approx(0.5)


def test_clusters_below_two_have_no_standard_error() -> None:
    assert clustered_standard_error([[1, 0, 1]]) is None
    assert clustered_standard_error([[1, 0], []]) is None
    assert clustered_standard_error([]) is None


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=2)))
def test_clusters_of_one_size_are_their_means(groups: list[list[int]]) -> None:
    means = [sum(group) / len(group) for group in groups]
    assert clustered_standard_error(groups) == pytest.approx(standard_error(means), rel=1e-9, abs=1e-12)
