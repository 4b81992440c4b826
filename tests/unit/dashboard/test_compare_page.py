from streamlit.testing.v1 import AppTest

from dashboard.arm_names import arm_key
from passgrid.report.facts import ArmName
from tests.unit.dashboard.analysis_files import AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import addresses, chart_rows, charts, links, no_traceback, rows, said


def key(model: str, number: int = 1, label: str = "nightly") -> str:
    return arm_key(ArmName(run_id(number), label, "replay", model, "plain"))


def figures(app: AppTest) -> list[str]:
    return [metric.value for metric in app.metric]


def test_nothing_chosen_says_what_to_do(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py")
    no_traceback(app)
    assert "Choose at least one arm" in said(app)
    assert "Runs →" in links(app)


def test_a_run_in_the_address_chooses_its_arms(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", run=run_id(1)[:8])
    no_traceback(app)
    assert app.query_params == {"run": run_id(1)[:8]}
    assert app.multiselect(key="choose_arm").value == [key("recorded:large"), key("recorded:small")]
    assert figures(app)[:3] == ["pass@1 = 0.833", "pass@2 = 1.000", "pass^2 = 0.667"]
    assert figures(app)[5:8] == ["pass@1 = 0.500", "pass@2 = 0.667", "pass^2 = 0.333"]
    assert "all recorded" in said(app)


def test_numbers_come_with_n_coverage_and_interval_and_unknown_is_a_dash(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:small"))
    (row,) = rows(app)
    assert (row["n"], row["coverage"], row["tool calls"], row["steps"]) == ("6", "100 %", "12", "2 / 2 / 2")
    assert row["pass@1 (95 %)"].startswith("0.500 (")
    assert row["time"] == "1.5 / 1.5 / 1.5 s"
    assert row["cost"] == row["tokens"] == "–"


def test_filters_are_in_the_address(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", run=run_id(1))
    app.multiselect(key="choose_tag").select("money").run()
    assert app.query_params["tag"] == "money"
    assert figures(app)[0] == "pass@1 = 0.500"
    again = open_page("compare_page.py", **app.query_params)
    assert figures(again) == figures(app)
    assert again.multiselect(key="choose_tag").value == ["money"]


def test_choosing_another_arm_writes_it_into_the_address(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:small"))
    app.multiselect(key="choose_arm").select(key("recorded:large")).run()
    assert app.query_params["arm"] == [key("recorded:small"), key("recorded:large")]
    assert len(rows(app, 2)) == 2


def test_taking_an_arm_of_a_run_away_names_those_that_are_left(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", run=run_id(1), tag="money")
    app.multiselect(key="choose_arm").unselect(key("recorded:large")).run()
    assert app.query_params == {"arm": key("recorded:small"), "tag": "money"}


def test_an_address_is_never_written_on_going_back_to_it(two: AnalysisFiles, open_page: Open) -> None:
    """Else the browser's way back would end there."""
    for page in ("compare_page.py", "attempt_page.py"):
        app = open_page(page, run=run_id(1))
        app.query_params.clear()
        app.run()
        assert app.query_params == {}
        no_traceback(app)


def test_coming_back_by_the_navigation_shows_what_was_shown(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:small"), tag="money")
    app.switch_page("runs_page.py")
    app.query_params.clear()
    app.run()
    app.switch_page("compare_page.py")
    app.run()
    assert app.query_params == {"arm": key("recorded:small"), "tag": "money"}


def test_below_95_percent_coverage_the_rate_is_withheld(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", run=run_id(2))
    no_traceback(app)
    assert figures(app) == ["withheld", "n = 1 of 4", "8"]
    assert "coverage 25 % is below 95 %: between 0.25–1.00" in said(app)
    assert "pass@" not in str(charts(app))
    (row,) = rows(app)
    assert row["pass@1 (95 %)"] == "withheld (0.25–1.00)"


def test_a_withheld_arm_does_not_shorten_the_curves_of_others(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=[key("recorded:large"), key("recorded:small", 2, "broken")], shared="")
    assert "pass^2 = 0.667" in figures(app)
    assert "Not drawn, coverage below 95 %: B." in said(app)


def test_arms_with_other_scenarios_are_warned_of_and_can_be_restricted(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run()
    for model, scenarios in (("m:a", ("book", "cancel")), ("m:b", ("book",))):
        for scenario in scenarios:
            files.attempt(run, scenario, model=model, outcome="failed" if scenario == "cancel" else "passed")
    files.publish()
    app = open_page("compare_page.py", run=run)
    assert "do not have the same scenarios (A 2, B 1)" in said(app)
    assert figures(app)[0] == "pass@1 = 0.500"
    app.toggle[0].set_value(True).run()
    assert app.query_params["shared"] == "1"
    assert figures(app)[0] == "pass@1 = 1.000"


def test_points_that_rest_on_few_are_hollow(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:small"))
    points = chart_rows(app)
    assert [(row["k"], row["sparse"]) for row in points] == [(1, False), (2, True)]
    assert "Hollow points" in said(app)


def test_arms_that_are_equal_stand_beside_each_other(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run()
    for agent in ("built-in", "shell", "typescript"):
        files.attempt(run, agent=agent)
    files.publish()
    points = chart_rows(open_page("compare_page.py", run=run))
    assert {(row["k"], row["value"]) for row in points} == {(1, 1.0)}
    built_in, shell, typescript = (row["x"] for row in points)
    assert built_in < shell == 1 < typescript
    assert typescript - built_in < 0.1


def test_an_agent_is_named_as_such_wherever_its_arm_is(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run()
    attempt = files.attempt(run, agent="shell")
    files.publish()
    app = open_page("compare_page.py", run=run)
    assert "**recorded:small · agent shell**" in said(app)
    assert rows(app)[0]["arm"] == "A  recorded:small · agent shell"
    app = open_page("attempt_page.py", run=run, attempt=f"{attempt:04x}".ljust(32, "a"))
    assert "recorded:small · agent shell · plain · default · replay" in said(app)


def test_a_bar_of_steps_stands_over_its_number(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run()
    for sample, calls in enumerate((1, 2)):
        files.attempt(run, sample=sample, tool_calls=calls)
    files.publish()
    app = open_page("compare_page.py", run=run)
    bars, median = (layer["data"]["values"] for layer in charts(app)[-1]["layer"])
    assert [(row["steps"], row["from"], row["to"]) for row in bars] == [("1", 0.5, 1.5), ("2", 1.5, 2.5)]
    assert median == [{"x": 1.5}]
    assert "median 1.5, p90 2, max 2" in said(app)


def test_a_scenario_leads_to_its_attempts(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:small"), scenario="shop/cancel")
    assert "✓ sample 0 passed" in links(app)
    assert "✗ sample 1 failed" in links(app)
    assert ("attempt", f"run={run_id(1)}&attempt={'0003'.ljust(32, 'a')}") in addresses(app)
    app.selectbox(key="choose_scenario").select("shop/book").run()
    assert app.query_params["scenario"] == "shop/book"


def test_reasons_have_an_example(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=key("recorded:large"))
    assert "1 × (100 %)" in said(app)
    assert "the order is missing" in said(app)
    assert links(app)[-1] == "example →"


def test_arms_are_compared_with_the_first_one(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=[key("recorded:small"), key("recorded:large")])
    (row,) = rows(app)
    assert (row["arm"], row["difference"], row["scenarios"]) == ("B  recorded:large", "+0.333", "3")
    assert row["better / worse / equal"] == "2 / 0 / 1"


def test_imported_verdicts_are_labelled(files: AnalysisFiles, open_page: Open) -> None:
    attempt = files.attempt(files.run())
    files.check(attempt, "reward", True, imported=True)
    files.publish()
    assert "verdicts imported: reward" in said(open_page("compare_page.py", run=run_id(1)))


def test_unknown_arms_and_runs_are_said_with_what_to_do(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=[key("recorded:small"), "gone"], run="0000")
    no_traceback(app)
    assert "2 of the arms or runs in this address is not in the export" in said(app) or "not in the export" in said(app)
    assert "gone\n0000" in said(app)
    assert "passgrid export" in said(app)
    assert len(rows(app)) == 1


def test_stages_are_shown_by_arm(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run()
    for sample in range(4):
        attempt = files.attempt(run, sample=sample)
        files.check(attempt, "paid", sample > 0, stage=True, required=False)
    files.publish()
    app = open_page("compare_page.py", run=run)
    assert rows(app, 1) == [{"stage": "paid", "A  recorded:small": "3 of 4 (75 %)"}]


def test_the_verdict_is_told_in_words_with_what_it_rests_on(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=[key("recorded:small"), key("recorded:large")])
    assert "B is better on 2, worse on 0 of 3 scenarios; \\+33 points, 95 % interval" in said(app)
    assert "differs in model" in said(app)
    differences = rows(app, 0)
    assert [(row["arm"], row["difference"], row["better / worse / equal"]) for row in differences] == [
        ("B  recorded:large", "+0.333", "2 / 0 / 1")
    ]
    used = {row["on average"]: row["B  recorded:large"] for row in rows(app, 1)}
    assert (used["steps"], used["cost"]) == ("2.0 → 2.0 (the same in every scenario)", "unknown")


def test_an_arm_of_low_coverage_is_not_compared_and_that_is_said(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("compare_page.py", arm=[key("recorded:large"), key("recorded:small", 2, "broken")])
    assert "no difference is told, too little was measured" in said(app)


def test_imported_arms_and_flags_are_marked(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run(1, imported_from="xplainable", mode="live")
    files.flag(files.attempt(run), "endless_polling", "12 of 12 calls are to look_up")
    files.publish()
    app = open_page("compare_page.py", run=run_id(1))
    no_traceback(app)
    for expected in ("imported from xplainable", "endless polling", "12 of 12 calls are to look", "1 of 1"):
        assert expected in said(app)
    app = open_page("attempt_page.py", run=run_id(1))
    assert "endless polling: 12 of 12 calls" in said(app)
    assert "imported from xplainable" in said(app)
