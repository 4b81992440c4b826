from math import comb, pi, sqrt, tan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics.distributions import beta_quantile, normal_quantile, regularized_beta, t_quantile

# Printed tables: Student t at 97.5 %.
T_TABLE = [(1, 12.706), (2, 4.303), (5, 2.571), (11, 2.201), (29, 2.045), (100, 1.984), (10_000, 1.960)]


@pytest.mark.parametrize(("df", "value"), T_TABLE)
def test_t_equals_the_printed_table(df: int, value: float) -> None:
    assert t_quantile(0.975, df) == pytest.approx(value, abs=5.1e-4)


@pytest.mark.parametrize("p", [0.55, 0.8, 0.9, 0.975, 0.995, 0.9995])
def test_t_equals_its_closed_forms(p: float) -> None:
    assert t_quantile(p, 1) == pytest.approx(tan(pi * (p - 0.5)), rel=1e-10)
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) * sqrt(2 / (4 * p * (1 - p))), rel=1e-10)


def test_t_is_symmetric_and_tends_to_the_normal() -> None:
    assert t_quantile(0.1, 7) == -t_quantile(0.9, 7)
    assert t_quantile(0.5, 7) == 0
    assert t_quantile(0.975, 1e6) == pytest.approx(normal_quantile(0.975), abs=1e-5)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 100))
def test_beta_of_whole_numbers_is_a_binomial_tail(a: int, b: int, percent: int) -> None:
    x, n = percent / 100, a + b - 1
    tail = sum(comb(n, j) * x**j * (1 - x) ** (n - j) for j in range(a, n + 1))
    assert regularized_beta(x, a, b) == pytest.approx(tail, rel=1e-11, abs=1e-14)


@given(st.floats(0.001, 0.999), st.floats(0.5, 200), st.floats(0.5, 200))
def test_the_quantile_inverts_the_distribution(p: float, a: float, b: float) -> None:
    assert regularized_beta(beta_quantile(p, a, b), a, b) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("b", [1, 5, 31, 1001])
def test_beta_quantile_where_it_is_known(b: int) -> None:
    assert beta_quantile(0.975, 1, b) == pytest.approx(1 - 0.025 ** (1 / b), rel=1e-11)
    assert beta_quantile(0.025, b, 1) == pytest.approx(0.025 ** (1 / b), rel=1e-11)
    assert beta_quantile(0, 1, b) == 0
    assert beta_quantile(1, 1, b) == 1


def test_what_is_no_probability_is_refused() -> None:
    for p in (0, 1, -0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="need"):
            normal_quantile(p)
        with pytest.raises(ValueError, match="need"):
            t_quantile(p, 3)
    for x in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="need"):
            regularized_beta(x, 1, 1)
        with pytest.raises(ValueError, match="need"):
            beta_quantile(x, 1, 1)
    with pytest.raises(ValueError, match="need"):
        t_quantile(0.9, 0)
    for a, b in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="need"):
            regularized_beta(0.5, a, b)
        with pytest.raises(ValueError, match="need"):
            beta_quantile(0.5, a, b)


def test_the_ends_of_beta() -> None:
    assert (regularized_beta(0, 2, 3), regularized_beta(1, 2, 3)) == (0, 1)
