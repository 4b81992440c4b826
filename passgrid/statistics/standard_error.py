"""Standard errors that respect the scenarios: attempts of one scenario are not independent of each other."""

from collections.abc import Sequence
from math import fsum, sqrt


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean of independent values (one a scenario): their standard deviation / sqrt(count).

    None below two values, which have no spread to tell.
    """
    count = len(values)
    if count < 2:
        return None
    mean = fsum(values) / count
    return sqrt(fsum((value - mean) ** 2 for value in values) / (count - 1) / count)


def clustered_standard_error(groups: Sequence[Sequence[float]]) -> float | None:
    """Of the mean over all values of all groups, where values of one group (attempts of a scenario) hang together.

    sqrt(sum_g (sum_i deviation)^2) / n, times sqrt(G / (G - 1)) for the G groups. Groups without values count for
    nothing. Where all groups are of one size it equals :func:`standard_error` of the group means.

    Source: Miller 2024, "Adding Error Bars to Evals", arXiv 2411.00640 (the factor G / (G - 1) for few groups added).

    Returns:
        The error in the unit of the values; None below two groups.
    """
    filled = [group for group in groups if group]
    count = len(filled)
    if count < 2:
        return None
    n = sum(len(group) for group in filled)
    mean = fsum(value for group in filled for value in group) / n
    squares = fsum(fsum(value - mean for value in group) ** 2 for group in filled)
    return sqrt(squares * count / (count - 1)) / n
