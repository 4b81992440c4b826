from pathlib import Path

import pytest

from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import addresses, chart_rows, links, no_traceback, rows, said


@pytest.fixture
def staged(tmp_path: Path) -> AnalysisFiles:
    """Two models, two scenarios, two samples: the small one misses `order` of `book` once; `cancel` has no `order`."""
    files = AnalysisFiles(tmp_path / "analysis")
    run = files.run(1, label="nightly", k=2)
    for model in ("m:large", "m:small"):
        for sample in range(2):
            good = model == "m:large" or sample == 0
            book = files.attempt(run, "book", sample, "passed" if good else "failed", model=model)
            files.stages(book, look_up=True, order=good)
            files.stages(files.attempt(run, "cancel", sample, model=model), look_up=True)
    lost = files.attempt(run, "book", 2, "infra_error(lost)", model="m:small")
    files.stages(lost, look_up=False, order=False)
    files.publish()
    return files


def test_the_profile_counts_valid_attempts_that_were_expected_to_reach_a_stage(
    staged: AnalysisFiles, open_page: Open
) -> None:
    app = open_page("stages_page.py", run=run_id(1))
    no_traceback(app)
    profile = [(row["arm"], row["stage"], row["text"]) for row in chart_rows(app, 0)]
    assert profile == [
        ("A", "look-up", "4/4"), ("A", "order", "2/2"), ("B", "look-up", "4/4"), ("B", "order", "1/2"),
    ]  # fmt: skip
    assert [list(row.values()) for row in rows(app)] == [
        ["look-up", "4 of 4 (100 %)", "4 of 4 (100 %)"],
        ["order", "2 of 2 (100 %)", "1 of 2 (50 %)"],
    ]
    assert "n = 4 of 4 · coverage 100 % · pass@1 = 1.000" in said(app)
    assert "n = 4 of 5 · coverage 80 % · pass rate withheld, between" in said(app)


def test_it_opens_at_the_cell_that_fell_over_most_and_leads_to_its_attempts(
    staged: AnalysisFiles, open_page: Open
) -> None:
    app = open_page("stages_page.py", run=run_id(1))
    assert app.selectbox(key="stage_scenario").value == "shop/book"
    assert app.selectbox(key="stage_stage").value == "order"
    assert "**B** m:small: 1 of 2 valid reached order" in said(app)
    assert "✗ sample 1 failed" in links(app)
    assert "– sample 2 infra\\_error\\(lost\\)" in links(app)
    assert any(page == "attempt" for page, _ in addresses(app))


def test_the_grid_shows_one_arm_and_leaves_out_what_is_not_expected(staged: AnalysisFiles, open_page: Open) -> None:
    app = open_page("stages_page.py", run=run_id(1))
    app.selectbox(key="stage_arm").select("B").run()
    assert app.query_params["of"] == "B"
    cells = [(row["row"], row["stage"], row["text"]) for row in chart_rows(app, 1)]
    assert cells == [("book", "look-up", "2/2"), ("book", "order", "1/2"), ("cancel", "look-up", "2/2")]


def test_scenario_and_stage_are_in_the_address(staged: AnalysisFiles, open_page: Open) -> None:
    app = open_page("stages_page.py", run=run_id(1), scenario="shop/cancel", stage="order")
    assert app.selectbox(key="stage_stage").value == "look-up"
    assert "2 of 2 valid reached look\\-up" in said(app)
    app.selectbox(key="stage_scenario").select("shop/book").run()
    assert app.query_params["scenario"] == "shop/book"
    assert app.selectbox(key="stage_stage").value == "order"


def test_arms_without_stages_say_how_to_name_some(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("stages_page.py", run=run_id(1))
    no_traceback(app)
    assert "No scenario of these arms has stages" in said(app)


def test_nothing_chosen_leads_to_the_runs_and_the_choice_goes_along(staged: AnalysisFiles, open_page: Open) -> None:
    app = open_page("stages_page.py")
    assert "Runs →" in links(app)
    app = open_page("stages_page.py", run=run_id(1))
    assert {"Compare →", "Tools →"} <= set(links(app))
    assert ("tools", f"run={run_id(1)}") in addresses(app)
