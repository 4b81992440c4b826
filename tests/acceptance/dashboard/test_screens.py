"""Every page, driven in a real browser against the real stack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browsing import LAPTOP, PHONE, Opener, Picture, fits, settle
from tests.acceptance.commands import Installation, airline


def follow(page: Page, text: str | re.Pattern[str], title: str) -> None:
    """Follow a link to another page of ours."""
    page.get_by_test_id("stPageLink").get_by_text(text).first.click()
    expect(page.locator("h1")).to_have_text(title)
    settle(page)


def compare(run: dict[str, Any]) -> str:
    return f"compare?run={run['run']}"


def test_from_the_list_of_runs_to_the_published_figures(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page()
    expect(page.get_by_text("Running now")).to_be_visible()
    expect(page.get_by_text("The API does not answer")).to_have_count(0)
    follow(page, re.compile("newest run"), "Compare")
    assert "compare?run=" in page.url
    page = open_page(compare(run))
    expect(page.get_by_text("pass^4 = 0.200", exact=True)).to_be_visible()
    expect(page.get_by_text("pass@1 = 0.420", exact=True)).to_be_visible()
    expect(page.get_by_text("pass@4 = 0.720", exact=True)).to_be_visible()
    calls = page.get_by_test_id("stMetric").filter(has_text="Tool calls")
    expect(calls).to_contain_text("1,164")
    expect(calls).to_contain_text("all recorded")
    valid = page.get_by_test_id("stMetric").filter(has_text="Valid attempts")
    expect(valid).to_contain_text("n = 200 of 200")
    expect(valid).to_contain_text("coverage 100 %")
    expect(page.get_by_text("verdicts imported: recorded_reward").first).to_be_visible()


def test_a_filter_survives_a_reload(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page(compare(run))
    page.get_by_role("combobox", name="Tags").click()
    page.get_by_role("option", name="tau-bench").click()
    page.wait_for_url(re.compile("tag=tau-bench"))
    page.reload()
    settle(page)
    expect(page.get_by_test_id("stMultiSelect").filter(has_text="Tags")).to_contain_text("tau-bench")
    expect(page.get_by_text("pass^4 = 0.200", exact=True)).to_be_visible()
    assert f"run={run['run']}" in page.url


def test_from_a_scenario_to_its_attempts_and_back(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page(compare(run) + "&tag=tau-bench&scenario=airline/task-20")
    follow(page, "sample 1 passed", "Attempt")
    assert f"run={run['run']}" in page.url
    expect(page.get_by_role("heading", name="task-20, sample 1")).to_be_visible()
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg, canvas").first).to_be_visible()
    expect(page.get_by_text("System prompt")).to_be_visible()
    most = page.get_by_test_id("stMarkdown").filter(has_text="Most called: update_reservation_flights, 3/7")
    expect(most).to_be_visible()
    before = page.url
    page.get_by_role("button", name="sample 2 →").click()
    page.wait_for_url(lambda url: url != before)
    settle(page)
    expect(page.get_by_role("heading", name="task-20, sample 2")).to_be_visible()
    follow(page, "← Compare", "Compare")
    assert "tag=tau-bench" in page.url
    assert "scenario=airline%2Ftask-20" in page.url
    expect(page.get_by_text("pass^4 = 0.200", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="task-20, sample 2")).to_be_visible()
    address = page.url
    page.reload()
    settle(page)
    expect(page.get_by_role("heading", name="task-20, sample 2")).to_be_visible()
    assert page.url == address


def test_a_click_on_a_cell_shows_its_attempts(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page(compare(run))
    page.locator("svg g.mark-text text[aria-label*='airline/task-18']").first.click()
    page.wait_for_url(re.compile("scenario=airline%2Ftask-18"))
    settle(page)
    expect(page.get_by_text(re.compile("4 of 4 valid passed"))).to_be_visible()


def test_a_reason_leads_to_an_example(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page(compare(run))
    expect(page.get_by_text("30 model turns, and the agent wants another")).to_be_visible()
    page.get_by_test_id("stPageLink").get_by_text("example →").nth(1).click()
    expect(page.locator("h1")).to_have_text("Attempt")
    expect(page.get_by_text("limit(turns)", exact=True).first).to_be_visible()


def test_choosers_of_an_attempt(open_page: Opener, run: dict[str, Any]) -> None:
    page = open_page(f"attempt?run={run['run']}")
    page.get_by_role("combobox", name="Scenario").click()
    page.get_by_role("option", name="airline/task-03").click()
    expect(page.get_by_role("heading", name="task-03, sample 0")).to_be_visible()
    assert "attempt=" in page.url


def test_a_stage_leads_from_its_cell_to_an_attempt(open_page: Opener, imported: str, picture: Picture) -> None:
    page = open_page(f"stages?run={imported}")
    fits(page)
    picture(page, "stages")
    expect(page.get_by_text("imported from xplainable").first).to_be_visible()
    expect(page.get_by_text("n = 10 of 10 · coverage 100 %").first).to_be_visible()
    page.locator("svg g.mark-text text[aria-label*='stage: report'][aria-label*='returns']").first.click()
    page.wait_for_url(re.compile("stage=report"))
    settle(page)
    assert "scenario=xplainable%2Freturns" in page.url
    expect(page.get_by_text("0 of 5 valid reached report").first).to_be_visible()
    follow(page, "✗ sample 0 failed", "Attempt")
    expect(page.get_by_text("report not reached")).to_be_visible()
    expect(page.get_by_text("endless polling: 26 of 60 calls")).to_be_visible()


def test_tools_name_the_one_that_is_called_most_and_the_calls_in_vain(
    open_page: Opener, run: dict[str, Any], imported: str, picture: Picture
) -> None:
    page = open_page(f"tools?run={imported}")
    fits(page)
    picture(page, "tools")
    most = page.get_by_test_id("stMetric").filter(has_text="Most called")
    expect(most.first).to_contain_text("get_autotrain_status")
    expect(page.get_by_test_id("stMetric").filter(has_text="Wasted calls").first).to_contain_text("ended in an error")
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg, canvas").first).to_be_visible()
    expect(page.get_by_text("endless polling").first).to_be_visible()
    follow(page, "Compare →", "Compare")
    assert f"run={imported}" in page.url
    expect(page.get_by_text(re.compile("B is better on 0, worse on 1 of 2 scenarios; −10 points"))).to_be_visible()
    page = open_page(f"tools?run={run['run']}")
    expect(page.get_by_test_id("stMetric").filter(has_text="Tool calls")).to_contain_text("1,164")
    expect(page.get_by_test_id("stMetric").filter(has_text="Most called")).to_contain_text("get_reservation_details")
    expect(page.get_by_test_id("stMetric").filter(has_text="Tools used")).to_contain_text("14 of 14")


def test_unknown_addresses_say_what_to_do(open_page: Opener) -> None:
    page = open_page("attempt?run=nowhere&attempt=nothing")
    expect(page.get_by_text("The run in this address is not in the export.")).to_be_visible()
    page = open_page("compare?arm=nothing")
    expect(page.get_by_text("An arm or run in this address is not in the export.")).to_be_visible()


def test_a_run_is_followed_while_it_runs(
    open_page: Opener, installation: Installation, airline_suite: Path, run: dict[str, Any], picture: Picture
) -> None:
    page = open_page()
    installation.json(*airline(airline_suite, "--label", "watched on screen"))
    expect(page.get_by_text(re.compile("of 200 attempts done|Ended while you watched")).first).to_be_visible()
    if page.get_by_text("of 200 attempts done").count():
        picture(page, "runs-live")
    assert installation.run("passgrid", "watch", "watched on screen", timeout=300).returncode == 0
    expect(page.get_by_text("of 200 attempts done")).to_have_count(0)
    installation.run("passgrid", "export")
    expect(page.get_by_text("Compare the newest run (watched on screen) →")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, size) for name in ("runs", "compare", "attempt") for size in (LAPTOP, PHONE)),
        ("stages", PHONE),
        ("tools", PHONE),
    ],
    ids=str,
)
def test_pages_fit_the_screen(
    open_page: Opener, run: dict[str, Any], imported: str, picture: Picture, name: str, size: tuple[int, int]
) -> None:
    busy = "&scenario=airline/task-33"
    paths = {"runs": "", "stages": f"stages?run={imported}", "tools": f"tools?run={imported}"}
    page = open_page(paths.get(name, compare(run) + (busy if name == "attempt" else "")), size)
    if name == "attempt":
        follow(page, "sample 0 limit(turns)", "Attempt")
    fits(page, charts=name != "runs")
    picture(page, name)
