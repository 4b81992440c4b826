from passgrid.drift.account import DriftAccount, Observed, account
from passgrid.drift.findings import LONGEST_EXAMPLE, RESULT, Finding, Severity, example, merged
from passgrid.drift.report import DriftArm, drift_arms, exit_code
from passgrid.drift.results import Answer
from passgrid.report.facts import ARM_AXES, ArmName


def finding(severity: Severity = Severity.BREAKING, place: str = "a", count: int = 1) -> Finding:
    return Finding(RESULT, "shop", "book", place, "removed", severity, 1, None, count)


def arm(valid: int, *findings: Finding) -> DriftArm:
    return DriftArm(ArmName("r", "l", "drift", "m", "p"), 100, valid, DriftAccount((), findings))


def test_calls_are_counted_by_tool_and_findings_by_place() -> None:
    calls = [
        Observed("shop", "book", Answer({"v": {"a": 1}}), Answer({"v": {"b": 1}}), "v"),
        Observed("shop", "book", Answer({"v": {"a": 2}}), Answer({"v": {"b": 2}}), "v"),
        Observed("shop", "book", Answer({"v": 1, "noise": 1}), Answer({"v": 1, "noise": 2}), "v"),
        Observed("shop", "book", None, Answer(3)),
        Observed("shop", "think", Answer(""), None),
    ]
    found = account([], calls)
    assert [(one.tool, one.calls, one.compared, one.equal, one.missing) for one in found.tools] == [
        ("book", 4, 3, 1, False),
        ("think", 1, 0, 0, True),
    ]
    (renamed,) = found.findings
    assert (renamed.place, renamed.change, renamed.count) == ("a", "renamed to b", 2)
    assert (renamed.recorded, renamed.live) == ({"a": 1}, {"b": 1}), "the first one is the example"


def test_the_worst_comes_first_then_what_was_seen_most() -> None:
    found = merged([finding(Severity.VALUE_ONLY, "x", 9), finding(place="b"), finding(place="c", count=2), finding()])
    assert [one.place for one in found] == ["c", "a", "b", "x"]
    assert [one.count for one in merged([finding(), finding(count=3)])] == [4]


def test_a_long_example_is_cut_and_secrets_are_taken_out_of_examples() -> None:
    assert len(example({"a": "x" * 1000})) == LONGEST_EXAMPLE + 2
    clean = DriftAccount((), (finding(),)).without(lambda value: "clean" if value == 1 else value)
    assert clean.findings[0].recorded == "clean"


def test_breaking_is_3_little_coverage_is_4() -> None:
    assert exit_code([arm(100)]) == 0
    assert exit_code([arm(95, finding(Severity.COMPATIBLE))]) == 0
    assert exit_code([arm(94)]) == 4
    assert exit_code([arm(10, finding())]) == 3
    assert exit_code([arm(100), arm(100, finding())]) == 3
    assert exit_code([]) == 4


def test_arms_that_compared_nothing_are_there_all_the_same() -> None:
    axes = dict(zip(ARM_AXES, ("r", "l", "drift", "m", "p", "t", "none", "none", "default"), strict=True))
    (found,) = drift_arms([{**axes, "wanted": 2, "valid": 1}], [], [])
    assert (found.name.target, found.coverage, found.drift.tools) == ("t", 0.5, ())
