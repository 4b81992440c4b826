"""Exact p of paired single attempts, and the price of looking at several comparisons."""

from collections.abc import Sequence
from operator import index


def mcnemar_exact(b: int, c: int) -> float:
    """The two-sided exact p of McNemar's test: one attempt a scenario in both arms (k = 1).

    Args:
        b: scenarios that passed in the baseline only (the losses of a paired difference).
        c: scenarios that passed in the candidate only (the wins).

    Returns:
        2 P(X <= min(b, c)) for X ~ Binomial(b + c, 1/2), at most 1; 1 where no scenario differs.

    Raises:
        ValueError: for a negative count.

    Source: McNemar 1947; the exact form e.g. in Fagerland, Lydersen and Laake 2013, BMC Med Res Methodol 13:91.
    """
    b, c = index(b), index(c)
    if b < 0 or c < 0:
        raise ValueError(f"counts are not negative, got b={b}, c={c}")
    n, term, tail = b + c, 1, 0
    for i in range(min(b, c) + 1):
        tail += term
        term = term * (n - i) // (i + 1)
    return min(1.0, 2 * tail / 2**n)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p of the comparisons shown together, in the order given; each may be read against 5 % as it is.

    A comparison that is N/A (None) stays so and does not count as one.

    Raises:
        ValueError: for a p outside [0, 1].

    Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(known):
        if not 0 <= p <= 1:
            raise ValueError(f"a p lies in [0, 1], not {p}")
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        adjusted[place] = highest
    return adjusted
