"""The report on a terminal: fits eighty columns, and never shows a rate without its n."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from api.cli.report_table import print_report
from passgrid.report.arms import arm_reports
from passgrid.report.facts import ArmName, AttemptFact
from passgrid.report.report import make_report
from tests.unit.passgrid.report.test_arms import fact


def printed(facts: list[AttemptFact], width: int = 80) -> str:
    out = StringIO()
    print_report(Console(file=out, width=width), make_report(["r1"], arm_reports(facts)))
    return out.getvalue()


def arm(model: str, passed: int, of: int = 5) -> list[AttemptFact]:
    name = ArmName("r1" * 16, "default", "replay", model, "careful")
    return [
        fact(scenario, i, "passed" if i < passed else "failed", arm=name, reason="final_text: " + "long " * 40)
        for scenario in ("a", "b", "c")
        for i in range(of)
    ]


def test_six_arms_fit_eighty_columns() -> None:
    facts = [one for i in range(6) for one in arm(f"recorded:scripted-thorough-{i}", i)]
    lines = printed(facts).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("pass@1" in line and "pass@5" in line for line in lines) == 1


def test_long_names_and_several_runs_fit_too() -> None:
    first, second = (
        ArmName(run * 16, "a-rather-long-label", "replay", "recorded:scripted-thorough", "a-rather-long-prompt-name")
        for run in ("r1", "r2")
    )
    lines = printed([fact("a", 0, arm=first), fact("a", 0, arm=second)]).splitlines()
    assert max(map(len, lines)) <= 80
    header = next(line for line in lines if "coverage" in line)
    assert "passed" in header


def test_values_intervals_n_and_coverage_stand_in_one_row() -> None:
    text = printed(arm("recorded:gpt", 2))
    row = next(line for line in text.splitlines() if "0.400" in line)
    assert "15" in row
    assert "100%" in row
    assert "0.900" in row


def test_below_95_percent_coverage_the_rate_is_withheld_and_bounds_are_shown() -> None:
    text = printed([fact("a", 0), *[fact("a", i, "infra_error(server)") for i in (1, 2, 3)]])
    assert "withheld" in text
    assert "0.25…1.00" in text
    assert "Coverage below 95 %" in text
    assert "1.000" not in text


def test_k_beyond_n_is_not_available() -> None:
    facts = [*arm("recorded:gpt", 2), *arm("recorded:few", 1, of=2)]
    row = next(line for line in printed(facts).splitlines() if "N/A" in line)
    assert row.count("N/A") == 3


def test_unknown_tokens_and_cost_are_unknown_and_not_zero() -> None:
    assert printed(arm("recorded:gpt", 2)).count("unknown") == 2
    assert "$0" not in printed(arm("recorded:gpt", 2))


def test_markup_in_reasons_is_text() -> None:
    facts = [fact("a", 0, "failed", reason="[red]boom[/red]\nsecond line")]
    assert "[red]boom[/red] second line" in printed(facts)
