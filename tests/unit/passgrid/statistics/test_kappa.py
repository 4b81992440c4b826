import pytest

from passgrid.statistics import cohen_kappa, wilson


def test_a_worked_example() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: agreement .7, by chance .5 * .6 + .5 * .4 = .5
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    kappa = cohen_kappa(first, second)
    assert (kappa.n, kappa.agreement) == (50, 0.7)
    assert kappa.expected == pytest.approx(0.5)
    assert kappa.value == pytest.approx(0.4)
    ends = wilson(35, 50)
    assert ends is not None
    assert (kappa.low, kappa.high) == (pytest.approx((ends[0] - 0.5) / 0.5), pytest.approx((ends[1] - 0.5) / 0.5))


def test_full_agreement_is_no_certainty() -> None:
    kappa = cohen_kappa([True, False] * 10, [True, False] * 10)
    assert (kappa.value, kappa.high) == (1, 1)
    assert kappa.low is not None
    assert 0.5 < kappa.low < 0.9


def test_disagreement_is_negative() -> None:
    kappa = cohen_kappa([0, 1] * 3, [1, 0] * 3)
    assert (kappa.value, kappa.low) == (-1, -1)


def test_more_than_two_labels() -> None:
    kappa = cohen_kappa(["a", "b", "c", "c"], ["a", "b", "b", "c"])
    assert kappa.expected == pytest.approx((1 * 1 + 1 * 2 + 2 * 1) / 16)
    assert kappa.value == pytest.approx((0.75 - 5 / 16) / (11 / 16))


def test_one_label_in_use_leaves_nothing_to_agree_on() -> None:
    kappa = cohen_kappa(["ok"] * 9, ["ok"] * 9)
    assert (kappa.n, kappa.agreement, kappa.expected) == (9, 1, 1)
    assert (kappa.value, kappa.low, kappa.high) == (None, None, None)


def test_no_items() -> None:
    kappa = cohen_kappa([], [])
    assert (kappa.n, kappa.agreement, kappa.expected, kappa.value, kappa.low, kappa.high) == (0, *[None] * 5)


def test_different_items_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2"):
        cohen_kappa([1, 0, 1], [1, 0])
