from itertools import pairwise
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.statistics import holm, mcnemar_exact


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 2 / 32), (6, 0, 2 / 64), (10, 2, 2 * (1 + 12 + 66) / 4096), (7, 7, 1.0)],
)
def test_mcnemar(b: int, c: int, p: float) -> None:
    assert mcnemar_exact(b, c) == pytest.approx(p)
    assert mcnemar_exact(c, b) == pytest.approx(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_twice_the_binomial_tail(b: int, c: int) -> None:
    tail = sum(comb(b + c, i) for i in range(min(b, c) + 1)) / 2 ** (b + c)
    assert mcnemar_exact(b, c) == pytest.approx(min(1, 2 * tail))


def test_mcnemar_refuses_negative_counts() -> None:
    for b, c in ((-1, 2), (2, -1)):
        with pytest.raises(ValueError, match="not negative"):
            mcnemar_exact(b, c)


def test_mcnemar_of_many() -> None:
    assert mcnemar_exact(5000, 5300) == pytest.approx(0.00323, abs=5e-5)  # normal approximation: z = 2.946


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([0.04]) == [0.04]
    assert holm([1.0, 0.0]) == [1, 0]
    assert holm([]) == []


def test_holm_does_not_count_what_is_not_available() -> None:
    assert holm([None, 0.03, None, 0.01]) == [None, 0.03, None, 0.02]


@pytest.mark.parametrize("p", [-0.01, 1.01, float("nan")])
def test_holm_refuses_what_is_no_p(p: float) -> None:
    with pytest.raises(ValueError, match="lies in"):
        holm([0.5, p])


@given(st.lists(st.floats(0, 1)))
def test_holm_raises_every_p_to_at_most_1_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = [p or 0.0 for p in holm(list(p_values))]
    assert all(1 >= new >= old for new, old in zip(adjusted, p_values, strict=True))
    pairs = sorted(zip(p_values, adjusted, strict=True))
    assert all(later[1] >= earlier[1] for earlier, later in pairwise(pairs))
    if p_values:
        assert min(adjusted) == pytest.approx(min(1, min(p_values) * len(p_values)))
