import json
from typing import Any

from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import addresses, no_traceback, rows, said


def drifted(files: AnalysisFiles, number: int = 1, **finding: Any) -> int:
    """A run with two attempts that saw the same change."""
    run = files.run(number, label=f"night {number}", mode="drift")
    keys = [files.attempt(run, sample=sample, target="hosted") for sample in range(2)]
    change = {
        "part": "result", "server": "shop", "tool": "look_up", "place": "address.province",
        "change": "renamed to state", "severity": "breaking", "recorded": json.dumps({"province": "TX"}),
        "live": json.dumps({"state": "TX"}), "count": 3, **finding,
    }  # fmt: skip
    for key in keys:
        counts = {"calls": 4, "compared": 4, "equal": 1, "missing": False}
        files.other("drift_tools", key, server="shop", tool="look_up", **counts)
        files.other(
            "drift_tools", key, server="shop", tool="think", **counts | {"compared": 0, "equal": 0, "missing": True}
        )
        files.other("drift_findings", key, **change)
    return keys[0]


def test_tools_and_findings_of_the_newest_run_are_summed_over_its_attempts(
    files: AnalysisFiles, open_page: Open
) -> None:
    drifted(files, 1)
    drifted(files, 2)
    files.publish()
    app = open_page("drift_page.py")
    no_traceback(app)
    tools, findings = rows(app, 0), rows(app, 1)
    assert [(row["tool"], row["calls"], row["compared"], row["equal"]) for row in tools] == [
        ("look_up", 8, 8, 2),
        ("think", 8, 0, None),
    ]
    assert tools[1]["note"] == "missing: answered from the recording"
    assert [(row["severity"], row["where"], row["change"], row["seen"]) for row in findings] == [
        ("breaking", "address.province", "renamed to state", 6)
    ]
    assert "target hosted" in said(app)
    assert "Equal answers 2 of 8" in said(app)
    assert any(page == "attempt" and f"run={run_id(2)}" in query for page, query in addresses(app))


def test_the_address_says_which_run(files: AnalysisFiles, open_page: Open) -> None:
    drifted(files, 1, severity="value-only")
    drifted(files, 2)
    files.publish()
    app = open_page("drift_page.py", run=run_id(1))
    assert rows(app, 1)[0]["severity"] == "value-only"


def test_low_coverage_is_said(files: AnalysisFiles, open_page: Open) -> None:
    drifted(files)
    files.attempt(run_id(1), sample=2, outcome="infra_error(server_lost)", target="hosted")
    files.publish()
    assert "Coverage 66.6 %" in said(open_page("drift_page.py"))


def test_without_a_run_of_drift_it_says_how_to_make_one(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("drift_page.py")
    no_traceback(app)
    assert "passgrid drift --suite" in said(app)


def test_what_servers_say_is_never_markup(files: AnalysisFiles, open_page: Open) -> None:
    drifted(files, change=":red[**x**]", place="<b>", tool="`t`")
    files.publish()
    app = open_page("drift_page.py")
    no_traceback(app)
    assert rows(app, 1)[0]["change"] == ":red[**x**]"
    assert [element.value for element in app.markdown if "**x**" in str(element.value)] == []
