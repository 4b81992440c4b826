from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import chart_rows, links, no_traceback, rows, said


def used(files: AnalysisFiles) -> AnalysisFiles:
    """One arm of two attempts: three looks, two of them in vain, and one order; `cancel` was offered too."""
    run = files.run(1)
    files.offered("s", look=True, order=False, cancel=False)
    first, second = (files.attempt(run, scenario, surface="s", tool_calls=2) for scenario in ("book", "refund"))
    files.tool_call(first, 0, "look", error=True, duration_ms=10.0)
    files.tool_call(first, 1, "look", error=True, duration_ms=20.0)
    files.tool_call(second, 0, "look", duration_ms=30.0)
    files.tool_call(second, 1, "order", duration_ms=None)
    files.flag(first, "endless_polling", "2 of 2 calls are to look")
    files.publish()
    return files


def figures(files: AnalysisFiles, open_page: Open, **query: str) -> dict[str, tuple[str, str]]:
    app = open_page("tools_page.py", run=run_id(1), **query)
    no_traceback(app)
    return {metric.label: (metric.value, metric.delta) for metric in app.metric}


def test_share_waste_latency_and_kind_of_every_tool(files: AnalysisFiles, open_page: Open) -> None:
    used(files)
    app = open_page("tools_page.py", run=run_id(1))
    no_traceback(app)
    look, order, cancel = rows(app)
    assert [look[name] for name in ("tool", "calls", "share", "wasted", "wasted share", "attempts", "kind")] == [
        "look", "3", "75 %", "2", "66.6 %", "2", "reads",
    ]  # fmt: skip
    assert (look["median"], look["p90"]) == ("20 ms", "28 ms")
    assert (order["kind"], order["median"]) == ("writes", "–")
    assert (cancel["calls"], cancel["share"], cancel["kind"]) == ("never", "–", "writes")
    bars = [(row["tool"], row["kind"], row["start"], row["end"]) for row in chart_rows(app)]
    assert bars == [("look", "A", 0.0, 0.25), ("look", "in vain", 0.25, 0.75), ("order", "A", 0.0, 0.25)]


def test_the_cards_name_the_tool_that_is_called_most(files: AnalysisFiles, open_page: Open) -> None:
    found = figures(used(files), open_page)
    assert found["Most called, 3 of 4"] == ("75 %", "look")
    assert found["Wasted calls"] == ("2", "50 % ended in an error")
    assert found["Tools used"] == ("2 of 3", "of those offered")
    assert found["Tool calls"] == ("4", "3 reads · 1 writes")
    assert found["Valid attempts"] == ("n = 2 of 2", "coverage 100 %")


def test_filters_hold_for_tools_too(files: AnalysisFiles, open_page: Open) -> None:
    for attempt, tag in zip(used(files).rows["attempts"], ("a", "b"), strict=True):
        attempt["tags"] = [tag]
    files.publish()
    assert figures(files, open_page, tag="b")["Tool calls"] == ("2", "1 reads · 1 writes")


def test_flags_stand_below_with_an_example(files: AnalysisFiles, open_page: Open) -> None:
    used(files)
    app = open_page("tools_page.py", run=run_id(1))
    assert "endless polling" in said(app)
    assert "2 of 2 calls are to look" in said(app)
    assert "1 of 2" in said(app)
    assert "example →" in links(app)


def test_an_imported_arm_that_tells_only_numbers_says_so_and_where_it_comes_from(
    files: AnalysisFiles, open_page: Open
) -> None:
    run = files.run(1, mode="live", imported_from="xplainable")
    files.attempt(run, tool_calls=60)
    files.publish()
    app = open_page("tools_page.py", run=run_id(1))
    no_traceback(app)
    assert "imported from xplainable" in said(app)
    assert ("60", "which tools is not known") in [(metric.value, metric.delta) for metric in app.metric]
    assert "called no tool" in said(app)
