from dataclasses import replace

import pytest

from passgrid.statistics import Interval, Tally, coverage, gate, paired_difference

FULL = coverage([Tally(100, 50)], [100])
BARELY = coverage([Tally(95, 50)], [100])
TOO_LITTLE = coverage([Tally(94, 50)], [100])
SOME = paired_difference({"a": 0.5, "b": 0.6}, {"a": 0.4, "b": 0.6})


def verdict(low: float, high: float, margin: float = 0.05) -> tuple[str, int]:
    difference = replace(SOME, interval=Interval(low, high, "t"))
    found = gate(difference, margin=margin, baseline_coverage=FULL, candidate_coverage=BARELY)
    assert found.difference is difference
    assert found.margin == margin
    return found.verdict, found.exit_code


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.01, 0.10, ("pass", 0)),
        (-0.05, 0.10, ("pass", 0)),
        (-0.04, -0.01, ("pass", 0)),  # surely worse, but surely within the margin
        (-0.051, 0.10, ("inconclusive", 4)),  # may be worse, proves nothing
        (-0.30, 0.0, ("inconclusive", 4)),
        (-0.30, -0.001, ("regression", 3)),
        (-0.06, -0.001, ("regression", 3)),
    ],
)
def test_the_interval_decides(low: float, high: float, expected: tuple[str, int]) -> None:
    assert verdict(low, high) == expected


def test_without_a_margin_only_no_loss_passes() -> None:
    assert verdict(0.0, 0.1, margin=0) == ("pass", 0)
    assert verdict(-0.001, 0.1, margin=0) == ("inconclusive", 4)
    assert verdict(-0.2, -0.1, margin=0) == ("regression", 3)


@pytest.mark.parametrize("interval", [Interval(-0.5, -0.4, "t"), Interval(0.4, 0.5, "t")])
@pytest.mark.parametrize(("baseline", "candidate"), [(TOO_LITTLE, FULL), (FULL, TOO_LITTLE)])
def test_below_95_percent_coverage_of_either_arm_nothing_is_concluded(
    interval: Interval, baseline: object, candidate: object
) -> None:
    arms = {"baseline_coverage": baseline, "candidate_coverage": candidate}
    found = gate(replace(SOME, interval=interval), margin=0.05, **arms)  # pyright: ignore[reportArgumentType]
    assert (found.verdict, found.exit_code) == ("inconclusive", 4)
    assert "94 of 100" in found.reason
    assert found.reason.startswith("baseline" if baseline is TOO_LITTLE else "candidate")


def test_without_an_interval_nothing_is_concluded() -> None:
    for difference, count in (
        (paired_difference({"a": 0.5}, {"a": 0.1}), "1 scenario "),
        (paired_difference({}, {}), "0 scenarios "),
    ):
        found = gate(difference, margin=0.05, baseline_coverage=FULL, candidate_coverage=FULL)
        assert found.exit_code == 4
        assert found.reason.startswith(count)


def test_a_plain_loss_from_the_counts_on() -> None:
    before = {f"s{i}": 0.9 for i in range(12)}
    after = {f"s{i}": 0.3 + i / 50 for i in range(12)}
    found = gate(paired_difference(before, after), margin=0.05, baseline_coverage=FULL, candidate_coverage=FULL)
    assert found.verdict == "regression"
    assert "below zero" in found.reason


def test_the_reason_names_the_numbers() -> None:
    difference = replace(SOME, interval=Interval(-0.123, 0.045, "t"))
    found = gate(difference, margin=0.05, baseline_coverage=FULL, candidate_coverage=FULL)
    assert "-12.3%" in found.reason
    assert "+4.5%" in found.reason
    assert "-5.0%" in found.reason
    passed = gate(difference, margin=0.2, baseline_coverage=FULL, candidate_coverage=FULL)
    assert "not below the margin of -20.0%" in passed.reason


@pytest.mark.parametrize("margin", [-0.01, float("nan"), float("inf")])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        gate(SOME, margin=margin, baseline_coverage=FULL, candidate_coverage=FULL)
