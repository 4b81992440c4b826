from random import Random
from time import perf_counter

import pytest

from passgrid.statistics import Curve, Tally, curve, mean_pass_at, mean_pass_hat, pass_at_1_interval
from passgrid.statistics.aggregate import Kind

SUITE = [Tally(5, 0), Tally(5, 1), Tally(5, 3), Tally(5, 5), Tally(3, 2)]


def suite(scenarios: int, attempts: int) -> list[Tally]:
    rng = Random(5)
    return [Tally(attempts, rng.randint(0, attempts)) for _ in range(scenarios)]


def test_a_curve_stops_at_the_fewest_attempts() -> None:
    at, hat = curve(SUITE, "at"), curve(SUITE, kind="hat", seed=3)
    assert [point.k for point in at.points] == [1, 2, 3]
    assert [point.value for point in at.points] == [mean_pass_at(SUITE, k) for k in (1, 2, 3)]
    assert [point.value for point in hat.points] == [mean_pass_hat(SUITE, k) for k in (1, 2, 3)]
    assert (at.kind, hat.kind, at.scenarios) == ("at", "hat", 5)


def test_points_with_less_than_2k_attempts_are_marked() -> None:
    assert [point.sparse for point in curve(suite(3, 6), "at").points] == [False, False, False, True, True, True]
    assert curve([Tally(1, 1), Tally(9, 2)], "at").points[0].sparse


def test_methods_follow_the_number_of_scenarios() -> None:
    assert [point.method for point in curve(suite(29, 4), "at", ks=[1, 2, 3]).points] == ["wilson", "t", "t"]
    many = curve(suite(30, 4), "at", ks=[1, 2, 3]).points
    assert [point.method for point in many] == ["wilson", "bootstrap", "bootstrap"]


@pytest.mark.parametrize("kind", ["at", "hat"])
def test_the_first_point_is_the_pass_rate_with_its_own_interval(kind: Kind) -> None:
    tallies = suite(40, 5)
    assert curve(tallies, kind).points[0].interval == pass_at_1_interval(tallies)


@pytest.mark.parametrize("scenarios", [1, 2, 29, 30])
@pytest.mark.parametrize("kind", ["at", "hat"])
def test_all_or_nothing_is_never_certain(scenarios: int, kind: Kind) -> None:
    for passed, value in ((0, 0.0), (6, 1.0)):
        points = curve([Tally(6, passed)] * scenarios, kind).points
        assert len(points) == 6
        for point in points:
            assert point.value == value
            assert point.method == "posterior"
            assert 0 <= point.low < point.high <= 1


@pytest.mark.parametrize("scenarios", [1, 2, 5, 29, 30, 64])
@pytest.mark.parametrize("kind", ["at", "hat"])
def test_every_interval_holds_its_value_within_0_and_1(scenarios: int, kind: Kind) -> None:
    for point in curve(suite(scenarios, 7), kind).points:
        assert 0 <= point.low <= point.value <= point.high <= 1
        assert point.low < point.high


def test_chosen_points_only() -> None:
    tallies = suite(30, 8)
    chosen, full = curve(tallies, "at", ks=[8, 2, 2, 99]), curve(tallies, "at")
    assert [point.k for point in chosen.points] == [2, 8]
    assert chosen.points[0].value == full.points[1].value
    assert chosen.points[0].low == pytest.approx(full.points[1].low, rel=1e-12)


def test_nothing_to_draw() -> None:
    assert curve([], "at") == Curve("at", 0, ())
    assert curve([Tally(5, 5), Tally(0, 0)], "hat") == Curve("hat", 2, ())


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="k >= 1"):
        curve(SUITE, "at", ks=[0, 1])
    with pytest.raises(ValueError, match="kind"):
        curve(SUITE, "both")  # pyright: ignore[reportArgumentType]


def test_the_same_seed_gives_the_same_curve_and_another_another() -> None:
    tallies = suite(35, 5)
    assert curve(tallies, "at", seed=1) == curve(tallies, "at", seed=1)
    assert curve(tallies, "at", seed=1) != curve(tallies, "at", seed=2)


def test_120_scenarios_and_5_points_take_well_under_a_second() -> None:
    tallies = suite(120, 10)
    curve(tallies, "at", ks=[1, 2])  # loads numpy
    start = perf_counter()
    curve(tallies, "at", ks=[1, 2, 3, 5, 10])
    assert perf_counter() - start < 0.5  # 0.025 s measured on an idle machine
