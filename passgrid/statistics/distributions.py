"""Quantiles of the beta, Student t and normal distributions, so that no scipy is needed."""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

#: The confidence of every interval shown.
CONFIDENCE = 0.95

#: The probability below the upper end of a two-sided interval.
UPPER_TAIL = (1 + CONFIDENCE) / 2

#: Stands for zero in the denominators of the continued fraction.
_TINY = 1e-300


def normal_quantile(p: float) -> float:
    """The standard normal value with probability p below it.

    Raises:
        ValueError: unless 0 < p < 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"need 0 < p < 1, got {p}")
    return NormalDist().inv_cdf(p)


def regularized_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function I_x(a, b): the probability below x of Beta(a, b).

    Source: the continued fraction of DLMF 8.17.22, by the modified Lentz method (Numerical Recipes, 3rd ed., 6.4).

    Raises:
        ValueError: unless 0 <= x <= 1 and a, b > 0.
    """
    if not (0 <= x <= 1 and a > 0 and b > 0):
        raise ValueError(f"need 0 <= x <= 1 and a, b > 0, got x={x}, a={a}, b={b}")
    if x in (0, 1):
        return float(x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(x, a, b) / a
    return 1 - front * _continued_fraction(1 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            change = c * d
            value *= change
        if abs(change - 1) < 1e-15:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


@lru_cache(maxsize=4096)
def beta_quantile(p: float, a: float, b: float) -> float:
    """The value with probability p below it under Beta(a, b), by bisection down to neighbouring floats.

    Raises:
        ValueError: unless 0 <= p <= 1 and a, b > 0.
    """
    if not (0 <= p <= 1 and a > 0 and b > 0):
        raise ValueError(f"need 0 <= p <= 1 and a, b > 0, got p={p}, a={a}, b={b}")
    if p in (0, 1):
        return float(p)
    low, high = 0.0, 1.0
    for _ in range(1100):  # enough halvings for the smallest float; a usual quantile takes about 60
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if regularized_beta(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return high


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The Student t value with probability p below it.

    Source: Abramowitz and Stegun 26.5.27 and 26.7.1: P(|T| <= t) = I_y(1/2, df/2) at y = t^2 / (df + t^2).

    Raises:
        ValueError: unless 0 < p < 1 and df > 0.
    """
    if not (0 < p < 1 and df > 0):
        raise ValueError(f"need 0 < p < 1 and df > 0, got p={p}, df={df}")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    y = beta_quantile(2 * p - 1, 0.5, df / 2)
    return sqrt(df * y / (1 - y))
