from fractions import Fraction
from itertools import pairwise
from math import comb, expm1

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from passgrid.statistics import Tally, pass_at_k, pass_hat_k, posterior_pass_at_k, posterior_pass_hat_k, posterior_rate


@st.composite
def attempts(draw: st.DrawFn, largest: int = 400) -> tuple[int, int, int]:
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


def exact_at(n: int, c: int, k: int) -> float:
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def exact_hat(n: int, c: int, k: int) -> float:
    return float(Fraction(comb(c, k), comb(n, k)))


@given(attempts())
def test_both_equal_the_exact_binomials(nck: tuple[int, int, int]) -> None:
    assert pass_at_k(*nck) == pytest.approx(exact_at(*nck), rel=1e-12, abs=0)
    assert pass_hat_k(*nck) == pytest.approx(exact_hat(*nck), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(("n", "c", "k"), [(200, 90, 33), (400, 120, 40), (399, 350, 300), (300, 34, 33), (200, 0, 50)])
def test_the_sum_of_logarithms_equals_the_exact_binomials(n: int, c: int, k: int) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(exact_at(n, c, k), rel=1e-13, abs=0)
    assert pass_hat_k(n, n - c, k) == pytest.approx(1 - exact_at(n, c, k), rel=1e-12, abs=1e-15)


@given(attempts())
@example((100, 33, 1))  # by logarithms this is 0.33 but for its last bit
@example((100, 67, 1))
def test_at_k_1_both_are_the_pass_rate_to_the_last_bit(nck: tuple[int, int, int]) -> None:
    n, c, _ = nck
    assert pass_at_k(n, c, 1) == pass_hat_k(n, c, 1) == c / n


@given(attempts())
def test_one_is_the_other_of_failures(nck: tuple[int, int, int]) -> None:
    n, c, k = nck
    at, hat = pass_at_k(n, c, k), pass_hat_k(n, n - c, k)
    assert at is not None
    assert hat is not None
    assert at == pytest.approx(1 - hat, abs=1e-14)


@given(attempts(150))
def test_monotone_in_k_and_within_0_and_1(nck: tuple[int, int, int]) -> None:
    n, c, _ = nck
    at = [pass_at_k(n, c, k) or 0.0 for k in range(1, n + 1)]
    hat = [pass_hat_k(n, c, k) or 0.0 for k in range(1, n + 1)]
    assert all(later >= earlier - 1e-15 for earlier, later in pairwise(at))
    assert all(later <= earlier + 1e-15 for earlier, later in pairwise(hat))
    assert min(at + hat) >= 0
    assert max(at + hat) <= 1


@given(attempts())
def test_more_k_than_attempts_is_not_available(nck: tuple[int, int, int]) -> None:
    n, c, k = nck
    assert pass_at_k(n, c, n + k) is None
    assert pass_hat_k(n, c, n + k) is None


def test_no_attempt_is_not_available() -> None:
    assert pass_at_k(0, 0, 1) is None
    assert pass_hat_k(0, 0, 1) is None


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (-1, 0, 1), (5, 2, 0), (5, 2, -1), (0, 0, 0)])
def test_nonsense_is_refused(n: int, c: int, k: int) -> None:
    for function in (pass_at_k, pass_hat_k, posterior_pass_at_k, posterior_pass_hat_k):
        with pytest.raises(ValueError, match="need"):
            function(n, c, k)


def test_fractions_of_attempts_are_refused() -> None:
    with pytest.raises(TypeError):
        pass_at_k(5, 2.5, 1)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("n", "c", "k"), [(10**9, 1, 1), (10**9, 3, 1000), (10**9, 40, 10**6), (10**9, 2 * 10**4, 3 * 10**4)]
)
def test_twelve_digits_at_a_thousand_million(n: int, c: int, k: int) -> None:
    m, other = min(c, k), max(c, k)
    none_passes = Fraction(1)
    if m <= 40:
        for i in range(n - m + 1, n + 1):
            none_passes *= Fraction(i - other, i)
        exact = float(1 - none_passes)
    else:  # the expansion of the log, exact to far below 12 digits: sum of x/i + x^2/2i^2 + x^3/3i^3
        harmonics = [sum(1.0 / i**power for i in range(n - m + 1, n + 1)) for power in (1, 2, 3)]
        exact = -expm1(-sum(other**power / power * total for power, total in zip((1, 2, 3), harmonics, strict=True)))
    assert pass_at_k(n, c, k) == pytest.approx(exact, rel=1e-12, abs=0)


def test_huge_counts_that_decide_the_answer_take_no_time() -> None:
    assert pass_at_k(10**9, 5 * 10**8, 5 * 10**8) == 1.0
    assert pass_at_k(10**9, 5 * 10**8, 5 * 10**8 + 1) == 1.0
    assert pass_hat_k(10**9, 5 * 10**8, 4 * 10**8) == 0.0
    assert pass_hat_k(10**9, 10**9, 10**9) == 1.0
    assert pass_at_k(10**9, 0, 10**9) == 0.0


@given(attempts(30), st.integers(1, 60))
def test_the_posterior_is_its_product(nck: tuple[int, int, int], k: int) -> None:
    n, c, _ = nck
    a, b = 1 + c, 1 + n - c
    fail, succeed = Fraction(1), Fraction(1)
    for j in range(k):
        fail *= Fraction(b + j, a + b + j)
        succeed *= Fraction(a + j, a + b + j)
    assert posterior_pass_at_k(n, c, k) == pytest.approx(float(1 - fail), rel=1e-12)
    assert posterior_pass_hat_k(n, c, k) == pytest.approx(float(succeed), rel=1e-12)


def test_the_posterior_rate_is_the_moments_of_beta() -> None:
    assert posterior_rate(Tally(0, 0)) == pytest.approx((1 / 2, (1 / 12) ** 0.5))
    assert posterior_rate(Tally(4, 1)) == pytest.approx((2 / 6, (2 * 4 / (6**2 * 7)) ** 0.5))
