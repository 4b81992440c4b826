"""What --gate understands, and what it says: 0 pass, 3 regression, 4 inconclusive."""

from __future__ import annotations

import pytest

from passgrid.problems import InvalidInput
from passgrid.report.arms import ArmReport, arm_reports
from passgrid.report.facts import ArmName
from passgrid.report.gates import read_gates
from passgrid.report.report import baseline_axis, make_report, of_run
from tests.unit.passgrid.report.arms import BROKEN, arm, many
from tests.unit.passgrid.report.test_arms import fact


@pytest.mark.parametrize(
    ("text", "figure", "k", "measure", "margin"),
    [
        ("pass@1:-5pt", "at", 1, "", 0.05),
        ("pass@1", "at", 1, "", 0.0),
        ("pass@3:0.02", "at", 3, "", 0.02),
        ("pass^4:-10pt", "hat", 4, "", 0.1),
        ("margin=0.05", "at", 1, "", 0.05),
        ("steps:+10%", "used", 1, "steps", 0.1),
        ("cost:20%", "used", 1, "cost_usd", 0.2),
        ("duration", "used", 1, "duration_s", 0.0),
    ],
)
def test_a_gate_is_a_figure_and_a_margin(text: str, figure: str, k: int, measure: str, margin: float) -> None:
    (found,) = read_gates([text])
    assert (found.figure, found.k, found.measure) == (figure, k, measure)
    assert found.margin == pytest.approx(margin)


def test_every_gate_that_is_not_understood_is_named_with_the_remedy() -> None:
    wrong = ["pass@0", "speed:+5%", "pass@1:+5pt", "pass@1:5%", "steps:-5%", "steps:3pt", "pass@1:-5", "margin=x"]
    with pytest.raises(InvalidInput) as raised:
        read_gates([*wrong, "pass@1"])
    assert [problem.place for problem in raised.value.problems] == [f"--gate {one}" for one in wrong]
    assert "pass@1:-5pt" in str(raised.value)


def judged(candidate: ArmReport, *gates: str, baseline: ArmReport | None = None) -> tuple[str | None, int]:
    arms = [baseline or many(20, 40, "old"), candidate]
    report = make_report(["r1"], arms, baseline_axis("model=old"), read_gates(gates))
    return report.gate, report.exit_code


def test_the_gate_passes_regresses_or_cannot_tell() -> None:
    assert judged(many(35, 40, "new"), "pass@1:-5pt") == ("pass", 0)
    assert judged(many(2, 40, "new"), "pass@1:-5pt") == ("regression", 3)
    assert judged(many(19, 40, "new"), "pass@1") == ("inconclusive", 4)


def test_the_worst_of_several_gates_decides() -> None:
    assert judged(many(35, 40, "new"), "pass@1:-5pt", "cost:+10%") == ("inconclusive", 4)
    assert judged(many(2, 40, "new"), "pass@1:-5pt", "cost:+10%") == ("regression", 3)


def test_one_pass_and_three_errors_cannot_pass_a_gate() -> None:
    assert judged(arm(BROKEN, "new"), "pass@1:-50pt") == ("inconclusive", 4)


def test_pass_hat_k_is_gated_over_scenarios_with_enough_attempts() -> None:
    steady, shaky = (
        {f"s{i:02}": [True] * 3 if good or i < 4 else [True, True, False] for i in range(40)} for good in (1, 0)
    )
    assert judged(arm(shaky, "new"), "pass^3:-5pt", baseline=arm(steady, "old"))[0] == "regression"


def replayed(run: str, last: str, mode: str = "replay") -> ArmReport:
    """Two scenarios whose recordings are the same in every run."""
    name = ArmName(run, "default", mode, "recorded:gpt", "plain")
    (found,) = arm_reports([fact("a", 0, arm=name), fact("b", 0, last, arm=name)])
    return found


@pytest.mark.parametrize(
    ("last", "mode", "expected"),
    [("passed", "replay", "pass"), ("failed", "replay", "inconclusive"), ("passed", "live", "inconclusive")],
)
def test_the_same_recordings_with_the_same_outcomes_pass_whatever_their_number(
    last: str, mode: str, expected: str
) -> None:
    arms = [replayed("r1", "passed", mode), replayed("r2", last, mode)]
    assert make_report(["r1", "r2"], arms, of_run("r1"), read_gates(["pass@1:-5pt"])).gate == expected


def test_a_gate_without_a_baseline_and_a_baseline_without_arms_are_usage_errors() -> None:
    arms = [many(1, 2, "a"), many(1, 2, "b")]
    with pytest.raises(InvalidInput, match="nothing to compare with"):
        make_report(["r1"], arms, None, read_gates(["pass@1"]))
    with pytest.raises(InvalidInput, match="no arm of these runs is of the baseline"):
        make_report(["r1"], arms, baseline_axis("model=c"))
    with pytest.raises(InvalidInput, match="every arm of these runs is of the baseline"):
        make_report(["r1"], arms, baseline_axis("prompt=plain"))
