"""Two arms scenario by scenario: differences, p values, what is missing, what would settle it."""

from __future__ import annotations

import pytest

from passgrid.report.comparison import compare_arms
from passgrid.report.document import report_document
from passgrid.report.report import make_report
from passgrid.report.words import comparison_text, missing_text, verdict
from passgrid.statistics import PairedDifference
from passgrid.statistics.intervals import Interval
from tests.unit.passgrid.report.arms import BROKEN, arm, many, name


def test_the_verdict_is_said_in_words() -> None:
    names = tuple(f"s{i}" for i in range(120))
    found = PairedDifference(names, (), (), 0.11, 0.04, Interval(0.03, 0.19, "bootstrap"), 0.01, False, 31, 9, 80)
    expected = "B is better on 31, worse on 9 of 120 scenarios; +11 points, 95 % interval 3 to 19"
    assert verdict(found, "B") == expected


def test_a_better_arm_is_found_with_p_and_mcnemar_at_one_attempt_each() -> None:
    (pair,) = compare_arms([(many(10, 40, "old"), many(30, 40, "new"))])
    assert (pair.finding, pair.difference.wins, pair.difference.losses) == ("better", 20, 0)
    assert pair.mcnemar_p == pytest.approx(2 / 2**20)
    assert pair.differing == (("model", "old", "new"),)


def test_mcnemar_is_not_there_with_more_attempts() -> None:
    (pair,) = compare_arms([(many(10, 40, "old", k=2), many(30, 40, "new", k=2))])
    assert pair.mcnemar_p is None


def test_holm_is_over_the_comparisons_shown_and_withheld_ones_are_none() -> None:
    base = many(5, 12, "old")
    pairs = compare_arms([(base, many(12, 12, "new")), (base, many(11, 12, "newer")), (base, arm(BROKEN, "broken"))])
    first, second, third = pairs
    assert first.adjusted_p == pytest.approx(2 * (first.difference.p_value or 0))
    assert second.adjusted_p == pytest.approx(max(first.adjusted_p or 0, second.difference.p_value or 0))
    assert (third.adjusted_p, third.finding) == (None, "not to be said")


def test_scenarios_missing_in_one_arm_are_named() -> None:
    old = arm({"a": [True], "b": [True], "gone": [True]}, "old")
    new = arm({"a": [True], "b": [False], "added": [True]}, "new")
    (pair,) = compare_arms([(old, new)])
    assert pair.difference.scenarios == ("shop/a", "shop/b")
    assert missing_text(pair, "A", "B") == [
        "without a valid attempt in A: shop/added",
        "without a valid attempt in B: shop/gone",
    ]


def test_what_attempts_use_is_compared_and_null_where_unknown() -> None:
    old = arm({"a": [True] * 2, "b": [True] * 2}, "old", cost_usd=0.1, tool_calls=4)
    new = arm({"a": [True] * 2, "b": [True] * 2}, "new", cost_usd=None, tool_calls=3)
    (found,) = report_document(make_report(["r1"], [old, new]))["comparisons"]
    assert found["cost_usd"] is None
    assert found["tokens"] is None
    assert (found["steps"]["baseline"], found["steps"]["candidate"], found["steps"]["difference"]) == (4, 3, -1)


def test_below_95_percent_coverage_no_difference_is_told() -> None:
    (pair,) = compare_arms([(many(4, 4, "old"), arm(BROKEN, "new"))])
    assert comparison_text(pair, "A", "B") == (
        "no difference is told, too little was measured (B: 1 of 1 valid, coverage 25 %, 25–100 %)"
    )


def test_without_a_baseline_all_others_are_compared_with_the_first() -> None:
    report = make_report(["r1"], [many(1, 3, "a"), many(2, 3, "b"), many(3, 3, "c")])
    assert [(pair.baseline.name, pair.candidate.name) for pair in report.comparisons] == [
        (name("a"), name("b")),
        (name("a"), name("c")),
    ]
    assert (report.exit_code, report.gate) == (0, None)
