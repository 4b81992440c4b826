"""How far a judge agrees with human labels, beyond chance."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .intervals import wilson


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its 95 % interval: 1 is full agreement, 0 what chance gives."""

    #: Items with both labels.
    n: int
    #: Share of items with the same label; N/A without items.
    agreement: float | None
    #: The share that chance would give, from how often each rater uses each label; N/A without items.
    expected: float | None
    #: (agreement - expected) / (1 - expected); N/A where chance alone gives full agreement (one label in use).
    value: float | None
    #: Lower end of the interval; N/A with the value.
    low: float | None
    #: Upper end of the interval; N/A with the value.
    high: float | None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> Kappa:
    """Kappa of two raters that labelled the same items, in the same order.

    The interval is Wilson's of the agreement, carried over with the expected share held fixed, as in Cohen's own
    standard error; unlike that one it has a width at full agreement too.

    Raises:
        ValueError: for sequences of different lengths.

    Source: Cohen 1960, "A Coefficient of Agreement for Nominal Scales".
    """
    if len(first) != len(second):
        raise ValueError(f"the raters labelled {len(first)} and {len(second)} items, not the same ones")
    n = len(first)
    if n == 0:
        return Kappa(0, None, None, None, None, None)
    same = sum(one == other for one, other in zip(first, second, strict=True))
    used_first, used_second = Counter(first), Counter(second)
    by_chance = sum(used_first[label] * used_second[label] for label in used_first)  # over n^2, kept whole
    agreement, expected = same / n, by_chance / n**2
    ends = wilson(same, n)
    if by_chance == n**2 or ends is None:
        return Kappa(n, agreement, expected, None, None, None)
    value, low, high = ((share - expected) / (1 - expected) for share in (agreement, *ends))
    return Kappa(n, agreement, expected, value, max(-1.0, low), min(1.0, high))
