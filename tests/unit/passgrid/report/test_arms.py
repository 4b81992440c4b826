"""Arms of a report: n and coverage beside every rate, null is not 0."""

from __future__ import annotations

from typing import Any

from passgrid.report.arms import arm_reports
from passgrid.report.distribution import Distribution, distribution
from passgrid.report.document import report_document
from passgrid.report.facts import ArmName, AttemptFact
from passgrid.report.report import make_report

ARM = ArmName("r1", "default", "replay", "recorded:gpt", "plain")


def fact(scenario: str, sample: int, outcome: str | None = "passed", **changes: Any) -> AttemptFact:
    valid = outcome in {"passed", "failed", "limit(turns)"}
    values: dict[str, Any] = {
        "arm": ARM,
        "suite": "shop",
        "scenario": scenario,
        "sample": sample,
        "attempt_id": f"{scenario}-{sample}",
        "outcome": outcome,
        "reason": None if outcome == "passed" else "because",
        "valid": valid,
        "passed": outcome == "passed",
        "tool_calls": 3,
        "model_turns": 4,
        "wasted_calls": 1,
        "duration_s": 0.5,
        "tokens": None,
        "cost_usd": None,
        "answers": {"recorded": 3},
    }
    return AttemptFact(**{**values, **changes})


def test_four_wanted_one_pass_three_errors_is_one_of_one_at_a_quarter_coverage() -> None:
    (arm,) = arm_reports([fact("a", 0), *[fact("a", i, "infra_error(server)") for i in (1, 2, 3)]])
    assert (arm.coverage.valid, arm.coverage.wanted, arm.coverage.share) == (1, 4, 0.25)
    assert (arm.coverage.low, arm.coverage.high) == (0.25, 1.0)
    assert arm.coverage.headline_withheld


def test_an_unfinished_attempt_is_wanted_and_not_valid() -> None:
    (arm,) = arm_reports([fact("a", 0), fact("a", 1, None)])
    assert arm.coverage.share == 0.5
    assert arm.outcomes == {"passed": 1, "unfinished": 1}


def test_rates_are_means_over_scenarios_never_pooled() -> None:
    facts = [fact("a", i) for i in range(4)] + [fact("b", 0, "failed")]
    (arm,) = arm_reports(facts)
    assert [point.value for point in arm.pass_at.points] == [0.5]


def test_unknown_cost_and_tokens_are_null_and_known_ones_are_summed() -> None:
    (unknown,) = report_document(make_report(["r1"], arm_reports([fact("a", 0, cost_usd=0.5), fact("a", 1)])))["arms"]
    assert (unknown["cost_usd"], unknown["tokens"]) == (None, None)
    (known,) = report_document(
        make_report(["r1"], arm_reports([fact("a", i, cost_usd=0.5, tokens=10) for i in (0, 1)]))
    )["arms"]
    assert known["cost_usd"] == 1.0
    assert known["tokens"] == {"median": 10, "p90": 10, "max": 10}


def test_k_beyond_the_valid_attempts_is_null() -> None:
    (arm,) = report_document(make_report(["r1"], arm_reports([fact("a", 0), fact("a", 1, "infra_error(server)")])))[
        "arms"
    ]
    assert arm["pass_at"] == {"1": 1.0, "2": None}
    assert arm["pass_hat_interval"]["2"] is None


def test_reasons_are_counted_with_an_example_and_stages_with_what_expected_them() -> None:
    facts = [
        fact("a", 0, "failed", stages={"found": True}),
        fact("a", 1, "failed", stages={"found": False}),
        fact("b", 0, "replay_miss", reason="gone"),
    ]
    (arm,) = report_document(make_report(["r1"], arm_reports(facts)))["arms"]
    assert arm["reasons"] == [
        {"reason": "because", "count": 2, "example": "a-0"},
        {"reason": "gone", "count": 1, "example": "b-0"},
    ]
    assert arm["stages"] == {"found": {"passed": 1, "of": 2}}
    assert arm["answers"] == {
        "live": 0, "recorded": 9, "recorded_state": 0, "recorded_semantic": 0, "faked": 0, "faulted": 0, "missed": 0,
    }  # fmt: skip


def test_a_distribution_with_an_unknown_is_unknown() -> None:
    assert distribution([1, 2, 3, 4, 100]) == Distribution(3, 100, 100)
    assert distribution([1, 2]) == Distribution(1.5, 2, 2)
    assert distribution([1, None]) is None
    assert distribution([]) is None
