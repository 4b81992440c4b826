from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import addresses, no_traceback, rows, said


def test_runs_are_listed_the_newest_first(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("runs_page.py")
    no_traceback(app)
    listed = rows(app)
    assert [row["label"] for row in listed] == ["broken", "nightly"]
    assert listed[0]["coverage"] == 0.25
    assert listed[1]["models"] == "recorded:large, recorded:small"
    assert [listed[1][name] for name in ("k", "wanted", "done", "valid", "passed")] == [2, 12, 12, 12, 8]


def test_links_lead_to_compare_with_the_run_chosen(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("runs_page.py")
    assert ("compare", f"run={run_id(2)}") in addresses(app)
    assert ("compare", f"run={run_id(2)}&run={run_id(1)}") in addresses(app)


def test_without_the_api_the_exported_state_is_shown_with_its_age(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("runs_page.py")
    assert "The API does not answer" in said(app)
    assert "exported less than a minute ago" in said(app)
    assert "passgrid export" in said(app)
    assert len(rows(app)) == 2


def test_a_run_without_attempts_has_no_coverage(files: AnalysisFiles, open_page: Open) -> None:
    files.run()
    files.publish()
    listed = rows(open_page("runs_page.py"))
    assert listed[0]["coverage"] is None
    assert listed[0]["models"] is None


def test_agents_are_listed_where_some_were_chosen(files: AnalysisFiles, open_page: Open) -> None:
    ours, imported = files.run(2), files.run(1, imported_from="inspect")
    for agent in ("shell", "built-in"):
        files.attempt(ours, agent=agent)
    files.attempt(imported)
    files.publish()
    assert [row["agents"] for row in rows(open_page("runs_page.py"))] == ["built-in, shell", None]


def test_without_chosen_agents_there_is_no_column_of_them(two: AnalysisFiles, open_page: Open) -> None:
    assert "agents" not in rows(open_page("runs_page.py"))[0]
