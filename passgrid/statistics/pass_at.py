"""pass@k and pass^k of one scenario, and their expectation under a Beta(1,1) prior."""

from math import comb, exp, expm1, fsum, log1p
from operator import index

from .tally import Tally

#: Up to this many factors the binomials are computed as whole numbers, so that hand-checkable figures come out
#: correctly rounded (3 of 10 is 0.3 to the last bit); beyond it the logarithms are summed.
_EXACT_FACTORS = 32

#: exp() of anything smaller is zero in double precision.
_LOG_OF_ZERO = -746.0


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """The chance that at least one of k attempts passes, unbiased: 1 - C(n-c, k) / C(n, k).

    Source: Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1.

    Args:
        n: valid attempts of one scenario.
        c: passed attempts among them.
        k: attempts drawn.

    Returns:
        A proportion, good to 12 digits up to n = 10**9; None (N/A) where k > n, n = 0 included.

    Raises:
        ValueError: for c outside 0..n or k below 1.
        TypeError: for a number that is not whole.
    """
    n, c, k = _checked(n, c, k)
    if k > n:
        return None
    if min(c, k) <= _EXACT_FACTORS:
        of, m, x = _shorter(n, c, k)
        return (of - comb(n - x, m)) / of
    return -expm1(_log_share_avoiding(n, c, k))


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """The chance that all of k attempts pass, unbiased: C(c, k) / C(n, k).

    Source: Yao et al. 2024, "tau-bench", arXiv 2406.12045. Arguments, N/A and errors as for :func:`pass_at_k`.
    """
    n, c, k = _checked(n, c, k)
    if k > n:
        return None
    failed = n - c
    if min(failed, k) <= _EXACT_FACTORS:
        of, m, x = _shorter(n, failed, k)
        return comb(n - x, m) / of
    return exp(_log_share_avoiding(n, failed, k))


def posterior_pass_at_k(n: int, c: int, k: int) -> float:
    """E[1 - (1-p)^k] for p ~ Beta(1+c, 1+n-c): 1 - prod_{j<k} (b+j) / (a+b+j).

    Defined for every k, also k > n and n = 0, since the prior stands in for what was not seen. The product is the
    one of pass@k with a marked attempts among a+b+k-1, so the same stable code computes it.

    Raises:
        ValueError, TypeError: as for :func:`pass_at_k`.
    """
    n, c, k = _checked(n, c, k)
    value = pass_at_k(n + k + 1, c + 1, k)
    assert value is not None  # n + k + 1 > k
    return value


def posterior_pass_hat_k(n: int, c: int, k: int) -> float:
    """E[p^k] for p ~ Beta(1+c, 1+n-c): prod_{j<k} (a+j) / (a+b+j). See :func:`posterior_pass_at_k`."""
    n, c, k = _checked(n, c, k)
    value = pass_hat_k(n + k + 1, c + k, k)
    assert value is not None  # n + k + 1 > k
    return value


def posterior_rate(tally: Tally) -> tuple[float, float]:
    """Mean and standard deviation of Beta(1+c, 1+n-c), the posterior of one scenario's pass rate."""
    a, b = 1 + tally.passed, 1 + tally.valid - tally.passed
    total = a + b
    return a / total, (a * b / (total + 1)) ** 0.5 / total


def _checked(n: int, c: int, k: int) -> tuple[int, int, int]:
    n, c, k = index(n), index(c), index(k)
    if not 0 <= c <= n:
        raise ValueError(f"need 0 <= c <= n, got n={n}, c={c}")
    if k < 1:
        raise ValueError(f"need k >= 1, got k={k}")
    return n, c, k


def _shorter(n: int, x: int, k: int) -> tuple[int, int, int]:
    """C(n-x, k) / C(n, k) is symmetric in x and k; the smaller makes the smaller binomials."""
    m, other = min(x, k), max(x, k)
    return comb(n, m), m, other


def _log_share_avoiding(n: int, x: int, k: int) -> float:
    """The log of C(n-x, k) / C(n, k): the share of draws of k among n that avoid x marked ones.

    The sum of log1p(-max/i) over the last min(x, k) values of i up to n. Every term is at most -max/n, so a product
    that underflows is known before it is summed, which bounds the loop (under 10**6 terms at n = 10**9).
    """
    m, other = min(x, k), max(x, k)
    if m + other > n or -m * other / n < _LOG_OF_ZERO:
        return -float("inf")
    return fsum(log1p(-other / i) for i in range(n - m + 1, n + 1))
