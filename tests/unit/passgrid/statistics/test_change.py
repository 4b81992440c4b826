"""What arms use, paired by scenario, and the gate on it."""

from __future__ import annotations

import math

import pytest

from passgrid.statistics import Coverage, PairedChange, gate_change, paired_change

FULL = Coverage(10, 10, 1.0, 1.0, 1.0)
HALF = Coverage(5, 10, 1.0, 0.5, 1.0)


def changed(*by: float, base: float = 10.0) -> PairedChange:
    before = {f"s{i}": base for i in range(len(by))}
    return paired_change(before, {f"s{i}": base + one for i, one in enumerate(by)})


def verdict(change: PairedChange, margin: float = 0.1, candidate: Coverage = FULL) -> str:
    return gate_change(change, margin=margin, baseline_coverage=FULL, candidate_coverage=candidate).verdict


def test_the_mean_and_its_t_interval_over_the_scenarios_in_common() -> None:
    found = paired_change({"a": 1, "b": 2, "c": 3, "gone": 9}, {"a": 2, "b": 4, "c": 6, "new": 9})
    assert (found.scenarios, found.baseline, found.candidate, found.mean) == (("a", "b", "c"), 2, 4, 2)
    assert found.interval == pytest.approx((2 - 4.302653 / math.sqrt(3), 2 + 4.302653 / math.sqrt(3)), abs=1e-5)
    assert found.p_value == 0.25
    assert found.relative == 1.0


def test_an_unknown_is_not_compared_and_not_zero() -> None:
    found = paired_change({"a": None, "b": 2}, {"a": 2, "b": None})
    assert (found.scenarios, found.mean, found.interval, found.p_value) == ((), None, None, None)
    assert verdict(found) == "inconclusive"


def test_differences_that_are_all_alike_have_no_interval() -> None:
    assert changed(1, 1, 1).interval is None
    assert not changed(1, 1, 1).unchanged


def test_many_scenarios_are_resampled_with_a_seed() -> None:
    by = [float(i % 7) for i in range(40)]
    assert changed(*by).interval == changed(*by).interval
    low, high = changed(*by).interval or (0, 0)
    assert low < sum(by) / 40 < high


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="'a': a number to compare is finite"):
        paired_change({"a": math.nan}, {"a": 1})


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ((0.1, 0.2, 0.3), "pass"),
        ((0, 0, 0), "pass"),
        ((5, 6, 7), "regression"),
        ((-8, 0, 9), "inconclusive"),
        ((2, 2, 2), "inconclusive"),
    ],
)
def test_the_gate_judges_the_interval_of_the_growth(by: tuple[float, ...], expected: str) -> None:
    assert verdict(changed(*by)) == expected


def test_below_95_percent_coverage_the_gate_is_inconclusive() -> None:
    assert verdict(changed(5, 6, 7), candidate=HALF) == "inconclusive"
    with pytest.raises(ValueError, match="margin"):
        verdict(changed(1), margin=-1)
