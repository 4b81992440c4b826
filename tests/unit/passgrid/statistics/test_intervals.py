from collections.abc import Sequence
from math import comb, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics import Tally, mean_intervals, pass_at_1_interval, scenario_interval, wilson
from passgrid.statistics.distributions import beta_quantile, t_quantile
from passgrid.statistics.intervals import posterior_bound

Z = 1.959963984540054


def ends(interval: object) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def score(rate: float, bound: float, n: float, quantile: float) -> float:
    """What is zero where the bound is an end of the score interval, by its definition."""
    return (rate - bound) ** 2 - quantile**2 * bound * (1 - bound) / n


@pytest.mark.parametrize(("c", "n"), [(3, 10), (5, 20), (45, 50), (1, 100), (7.5, 12.25)])
def test_wilson_solves_the_score_equation(c: float, n: float) -> None:
    found = wilson(c, n)
    assert found is not None
    low, high = found
    assert 0 < low < c / n < high < 1
    assert score(c / n, low, n, Z) == pytest.approx(0, abs=1e-15)
    assert score(c / n, high, n, Z) == pytest.approx(0, abs=1e-15)


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 10) == (0.0, pytest.approx(Z**2 / (10 + Z**2), rel=1e-12))
    assert wilson(10, 10) == (pytest.approx(10 / (10 + Z**2), rel=1e-12), 1.0)
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("c", "n"), [(-1, 3), (4, 3), (float("nan"), 3)])
def test_wilson_refuses_nonsense(c: float, n: float) -> None:
    with pytest.raises(ValueError, match="need"):
        wilson(c, n)


def spread_of(rates: Sequence[float]) -> tuple[float, float]:
    mean = sum(rates) / len(rates)
    return mean, sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1) / len(rates)


def test_pass_at_1_counts_effective_attempts_from_30_scenarios() -> None:
    tallies = [Tally(10, 3 + i % 5) for i in range(40)]
    mean, square = spread_of([tally.passed / 10 for tally in tallies])
    effective = mean * (1 - mean) / square
    assert effective > 40
    effective = min(effective, 400)
    interval = pass_at_1_interval(tallies)
    assert interval is not None
    assert interval.method == "wilson"
    for end in ends(interval):
        assert score(mean, end, effective, t_quantile(0.975, 39)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "tallies",
    [
        [Tally(10, 4 + i % 3) for i in range(29)],  # under 30 scenarios
        [Tally(100, i % 3) for i in range(40)],  # a mean below 10 %
        [Tally(100, 100 - i % 3) for i in range(40)],  # a mean above 90 %
    ],
)
def test_pass_at_1_counts_scenarios_where_their_spread_is_not_to_be_trusted(tallies: list[Tally]) -> None:
    mean, square = spread_of([tally.passed / tally.valid for tally in tallies])
    assert mean * (1 - mean) / square > len(tallies)
    for end in ends(pass_at_1_interval(tallies)):
        assert score(mean, end, len(tallies), t_quantile(0.975, len(tallies) - 1)) == pytest.approx(0, abs=1e-12)


def test_pass_at_1_of_scenarios_that_agree_counts_no_more_than_the_attempts() -> None:
    for end in ends(pass_at_1_interval([Tally(4, 2)] * 30)):
        assert score(0.5, end, 120, t_quantile(0.975, 29)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("passed", [1, 9])
def test_pass_at_1_at_10_and_at_90_percent_is_not_outside_of_them(passed: int) -> None:
    for end in ends(pass_at_1_interval([Tally(10, passed)] * 40)):
        assert score(passed / 10, end, 400, t_quantile(0.975, 39)) == pytest.approx(0, abs=1e-12)


def test_pass_at_1_counts_at_least_one() -> None:
    rates = [Tally(1, 1), Tally(1, 0)]  # se^2 = 1/4: n_eff is 1
    for end in ends(pass_at_1_interval(rates)):
        assert score(0.5, end, 1, t_quantile(0.975, 1)) == pytest.approx(0, abs=1e-12)


def test_pass_at_1_without_attempts_is_not_available() -> None:
    assert pass_at_1_interval([]) is None
    assert pass_at_1_interval([Tally(5, 5), Tally(0, 0)]) is None


@pytest.mark.parametrize("scenarios", [2, 29, 30, 100])
def test_all_or_nothing_has_a_width_and_says_posterior(scenarios: int) -> None:
    bound = 1 - 0.025 ** (1 / (scenarios + 1))
    nothing, everything = pass_at_1_interval([Tally(5, 0)] * scenarios), pass_at_1_interval([Tally(5, 5)] * scenarios)
    assert nothing is not None
    assert everything is not None
    assert (nothing.low, nothing.high, nothing.method) == (0, pytest.approx(bound), "posterior")
    assert (everything.low, everything.high, everything.method) == (pytest.approx(1 - bound), 1, "posterior")
    assert mean_intervals([[0.0] * scenarios, [1.0] * scenarios], seed=0) == [nothing, everything]
    assert posterior_bound(scenarios) == pytest.approx(bound)


def test_few_scenarios_take_t() -> None:
    values = [0.1, 0.5, 0.6, 0.8]
    mean, square = spread_of(values)
    (interval,) = mean_intervals([values], seed=0)
    half = 3.182446305284263 * sqrt(square)  # t at 97.5 % with 3 degrees
    assert interval.method == "t"
    assert (interval.low, interval.high) == (pytest.approx(mean - half), pytest.approx(mean + half))


def test_t_is_clamped() -> None:
    (interval,) = mean_intervals([[0.0, 0.0, 1.0, 1.0]], seed=0)
    assert (interval.low, interval.high) == (0, 1)


def test_many_scenarios_take_the_bootstrap_over_scenarios() -> None:
    values = [1.0] * 24 + [0.0] * 16
    # The mean of a resample is Binomial(40, 0.6) / 40: its quantiles are known exactly.
    below = [sum(comb(40, j) * 0.6**j * 0.4 ** (40 - j) for j in range(c + 1)) for c in range(41)]
    exact = [next(c for c in range(41) if below[c] >= p) / 40 for p in (0.025, 0.975)]
    (interval,) = mean_intervals([values], seed=0)
    assert interval.method == "bootstrap"
    assert [interval.low, interval.high] == pytest.approx(exact, abs=0.0251)
    assert mean_intervals([values], seed=0) == [interval]


def test_other_seeds_draw_other_resamples() -> None:
    values = [(i * 37 % 101) / 101 for i in range(60)]
    assert mean_intervals([values], seed=1) != mean_intervals([values], seed=2)


def test_columns_share_their_resamples_and_keep_their_order() -> None:
    first, second = [(i * 37 % 101) / 101 for i in range(60)], [(i * 53 % 89) / 89 for i in range(60)]
    together = mean_intervals([first, [1.0] * 60, second], seed=7)
    apart = [mean_intervals([column], seed=7)[0] for column in (first, [1.0] * 60, second)]
    for one, other in zip(together, apart, strict=True):
        assert ends(one) == pytest.approx(ends(other), rel=1e-12)
        assert one.method == other.method


def test_more_than_a_block_of_columns() -> None:
    columns = [[(i * 37 + k) % 101 / 101 for i in range(31)] for k in range(70)]
    assert len(mean_intervals(columns, seed=0)) == 70


def test_scenarios_that_agree_have_a_width() -> None:
    (interval,) = mean_intervals([[0.5] * 12], seed=0)
    assert interval.method == "wilson"
    for end in ends(interval):
        assert score(0.5, end, 12, t_quantile(0.975, 11)) == pytest.approx(0, abs=1e-12)


def test_every_scenario_is_drawn() -> None:
    # How often the one that passes is drawn is Binomial(30, 1/30): 97.5 % of the time up to 3.
    for place in (0, 29):
        values = [0.0] * 30
        values[place] = 1.0
        assert ends(mean_intervals([values], seed=0)[0]) == (0, pytest.approx(0.1))


@pytest.mark.parametrize("columns", [[[0.5]], [[]], [[0.1, 0.2], [0.1, 0.2, 0.3]]])
def test_columns_must_be_over_the_same_two_scenarios_or_more(columns: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="same two or more scenarios"):
        mean_intervals(columns, seed=0)


def test_one_scenario_speaks_about_its_own_attempts() -> None:
    interval = pass_at_1_interval([Tally(10, 3)])
    assert interval is not None
    assert (interval.low, interval.high) == wilson(3, 10)
    assert (interval.method, interval.over) == ("wilson", "attempts")
    assert scenario_interval(Tally(10, 3), "hat", 1) == interval
    assert ends(scenario_interval(Tally(10, 1), "at", 1)) == wilson(1, 10)
    assert ends(scenario_interval(Tally(10, 9), "at", 1)) == wilson(9, 10)


def test_one_scenario_at_an_end_takes_its_posterior() -> None:
    low, high = 1 - 0.025 ** (1 / 6), 1.0
    nothing, everything = scenario_interval(Tally(5, 0), "at", 1), scenario_interval(Tally(5, 5), "at", 1)
    assert ends(nothing) == (0, pytest.approx(low))
    assert ends(everything) == (pytest.approx(1 - low), high)
    assert everything is not None
    assert everything.method == "posterior"


def test_one_scenario_at_k_carries_the_posterior_of_its_rate_over() -> None:
    # All of 4 failed: Beta(1, 5), whose quantiles are 1 - (1-p)^(1/5), so (1 - rate)^3 is (1-p)^(3/5).
    assert ends(scenario_interval(Tally(4, 0), "at", 3)) == (0, pytest.approx(1 - 0.025**0.6))
    assert ends(scenario_interval(Tally(4, 4), "hat", 3)) == (pytest.approx(0.025**0.6), 1)
    low, high = beta_quantile(0.025, 3, 6), beta_quantile(0.975, 3, 6)  # 2 of 7 passed
    assert ends(scenario_interval(Tally(7, 2), "at", 2)) == pytest.approx((1 - (1 - low) ** 2, 1 - (1 - high) ** 2))
    assert ends(scenario_interval(Tally(7, 2), "hat", 2)) == pytest.approx((low**2, high**2))
    low = beta_quantile(0.025, 2, 5)  # 1 of 5 passed: pass@5 is 1, which the posterior alone would leave out
    assert ends(scenario_interval(Tally(5, 1), "at", 5)) == (pytest.approx(1 - (1 - low) ** 5), 1)
    assert scenario_interval(Tally(4, 2), "at", 5) is None
    assert scenario_interval(Tally(0, 0), "at", 1) is None


@given(st.lists(st.integers(1, 8).flatmap(lambda n: st.builds(Tally, st.just(n), st.integers(0, n))), min_size=1))
def test_an_interval_has_a_width_and_holds_its_value(tallies: list[Tally]) -> None:
    mean = sum(tally.passed / tally.valid for tally in tallies) / len(tallies)
    low, high = ends(pass_at_1_interval(tallies))
    assert 0 <= low <= mean + 1e-15
    assert mean - 1e-15 <= high <= 1
    assert low < high
