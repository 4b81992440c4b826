"""The two resampling methods: bootstrap over scenarios, and sign flips of paired differences.

Attempts are never resampled. numpy is imported where it is used, so that importing Passgrid does not load it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import TYPE_CHECKING

from .distributions import UPPER_TAIL

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Bootstrap and sign-flip draws.
DRAWS = 10_000

#: Up to this many differences other than zero all 2^n sign flips are counted, beyond it they are drawn.
EXACT_SIGN_FLIPS = 16

#: Numbers held at once while drawing (32 MB).
_BLOCK = 4_000_000

#: Columns whose means are held at once.
_COLUMNS = 64


def bootstrap(columns: Sequence[Sequence[float]], *, seed: int) -> list[tuple[float, float]]:
    """95 % percentile intervals of the means of several columns, over one set of resampled scenarios.

    Args:
        columns: each one value a scenario, all over the same scenarios (say, one column a k).
        seed: of the draws; the same seed and values give the same intervals.

    Returns:
        (low, high) of each column.

    Raises:
        ValueError: for columns without scenarios or of different lengths.

    Source: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13.
    """
    if not columns:
        return []
    import numpy as np

    scenarios = len(columns[0])
    if scenarios == 0 or any(len(column) != scenarios for column in columns):
        raise ValueError("every column needs one value for each of the same scenarios")
    values = np.array(columns, dtype=np.float64).T
    blocks = list(_resampled_weights(scenarios, seed))
    intervals: list[tuple[float, float]] = []
    for start in range(0, len(columns), _COLUMNS):
        part = values[:, start : start + _COLUMNS]
        means = np.concatenate([weights @ part for weights in blocks])
        low, high = np.quantile(means, [1 - UPPER_TAIL, UPPER_TAIL], axis=0)
        intervals += zip(low.tolist(), high.tolist(), strict=True)
    return intervals


def _resampled_weights(scenarios: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Blocks of rows: the share of each scenario in a resample of as many scenarios, drawn with replacement."""
    import numpy as np

    rng = np.random.default_rng(seed)
    for rows in _blocks(scenarios):
        drawn = rng.integers(0, scenarios, size=(rows, scenarios))
        drawn += np.arange(rows)[:, None] * scenarios
        counts = np.bincount(drawn.ravel(), minlength=rows * scenarios)
        yield counts.reshape(rows, scenarios) / scenarios


def sign_flip(differences: Sequence[float], *, seed: int) -> tuple[float, bool]:
    """The two-sided p of paired differences with mean zero, from flipping the sign of each.

    Exact for up to 16 differences other than zero (zeros change nothing), else from 10,000 seeded draws with the
    observed one counted among them, so p is never 0.

    Returns:
        p, and whether it is exact. No difference at all gives 1.

    Source: Fisher 1935, "The Design of Experiments", section 21; (hits + 1) / (draws + 1): Phipson and Smyth 2010.
    """
    import numpy as np

    moved = np.array([difference for difference in differences if difference], dtype=np.float64)
    if not len(moved):
        return 1.0, True
    # Sums that are equal on paper differ in their last bits.
    observed = abs(fsum(moved.tolist())) - 1e-12 * float(np.abs(moved).sum())
    if len(moved) <= EXACT_SIGN_FLIPS:
        sums = np.zeros(1)
        for difference in moved:
            sums = np.concatenate([sums - difference, sums + difference])
        return float(np.mean(np.abs(sums) >= observed)), True
    rng = np.random.default_rng(seed)
    hits = 0
    for rows in _blocks(len(moved)):
        signs = rng.integers(0, 2, size=(rows, len(moved)), dtype=np.int8) * 2.0 - 1.0
        hits += int(np.count_nonzero(np.abs(signs @ moved) >= observed))
    return (hits + 1) / (DRAWS + 1), False


def _blocks(width: int) -> Iterator[int]:
    """The 10,000 draws in parts whose rows of this width fit in memory."""
    rows = max(1, min(DRAWS, _BLOCK // width))
    for start in range(0, DRAWS, rows):
        yield min(rows, DRAWS - start)
