"""Reports as a user gets them: compared, gated, in every format, and a page that needs no network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.acceptance.commands import Installation
from tests.unit.passgrid.importers.exported_folder import attempt_row, write_export

MODELS = ("recorded:scripted-thorough", "recorded:scripted-quick")
BASELINE = ("--baseline", f"model={MODELS[0]}")


@pytest.fixture(scope="module")
def demo(installation: Installation) -> str:
    """A run of the demo suite with two models."""
    models = [word for model in MODELS for word in ("--model", model)]
    return installation.json(
        "submit-matrix", "--suite", "demo", *models, "-k", "3", "--label", "report-demo", "--wait"
    )["run"]


@pytest.fixture(scope="module")
def broken(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """4 wanted, 1 pass, 3 infra errors, with a name and reasons that are markup."""
    hostile = "<script>alert(1)</script><img src=http://example.com/x.png>"
    rows = [attempt_row("a", 0)]
    rows += [attempt_row("a", i, "infra_error", outcome_detail="server", reason=hostile) for i in (1, 2, 3)]
    for row in rows:
        row["prompt"] = hostile
    folder = write_export(tmp_path_factory.mktemp("exported") / "out", rows, label="broken")
    return installation.json("passgrid", "import", "passgrid", folder)["runs"][0]["run"]


def test_one_pass_and_three_errors_withhold_the_headline_and_cannot_pass_the_gate(
    installation: Installation, broken: str, demo: str
) -> None:
    alone = installation.run("passgrid", "report", broken)
    assert alone.returncode == 4
    assert "1 of 1 valid, coverage 25 %, 25–100 %" in alone.stdout
    assert "100%" not in alone.stdout
    gated = installation.run("passgrid", "report", broken, "--baseline", demo, "--gate", "pass@1:-5pt", "--json")
    assert gated.returncode == 4
    assert json.loads(gated.stdout)["gate"]["verdict"] == "inconclusive"


def test_a_worse_model_is_a_regression(installation: Installation, demo: str) -> None:
    worse = installation.run("passgrid", "report", demo, *BASELINE, "--gate", "pass@1:-5pt", "--json")
    assert worse.returncode == 3
    (pair,) = json.loads(worse.stdout)["comparisons"]
    assert pair["finding"] == "worse"
    assert pair["differs_in"] == {"model": list(MODELS)}


def test_wrong_gates_are_all_named(installation: Installation, demo: str) -> None:
    done = installation.run("passgrid", "report", demo, "--gate", "speed", "--gate", "pass@0")
    assert done.returncode == 2
    assert "--gate speed" in done.stderr
    assert "--gate pass@0" in done.stderr


def test_a_run_exported_and_imported_again_gives_the_same_report(
    installation: Installation, demo: str, tmp_path: Path
) -> None:
    installation.json("passgrid", "export", demo, "--format", "parquet", "--out", tmp_path / "out")
    (imported,) = installation.json("passgrid", "import", "passgrid", tmp_path / "out")["runs"]
    of_run, of_import = (_without_ids(installation.json("passgrid", "report", run)) for run in (demo, imported["run"]))
    assert of_import == of_run


def _without_ids(document: dict[str, Any]) -> dict[str, Any]:
    del document["runs"]
    named = [*document["arms"], *[pair[side] for pair in document["comparisons"] for side in ("baseline", "candidate")]]
    for arm in named:
        assert arm.pop("run")
        del arm["imported_from"]
    return document


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that can reach nothing but files, and fails at any request for something else."""
    asked: list[str] = []
    opened = browser.new_page(color_scheme="dark")

    def only_files(route: Route) -> None:
        if urlsplit(route.request.url).scheme == "file":
            route.continue_()
        else:
            asked.append(route.request.url)
            route.abort()

    opened.route("**/*", only_files)
    opened.on(
        "request", lambda request: asked.append(request.url) if request.url[:5] not in ("file:", "data:") else None
    )
    opened.on("dialog", lambda dialog: asked.append(dialog.message))
    opened.on("console", lambda message: asked.append(message.text))
    yield opened
    opened.close()
    assert asked == []


def test_the_page_opens_without_network_and_shows_every_part(
    installation: Installation, demo: str, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    installation.run("passgrid", "report", demo, *BASELINE, "--format", "html", "--out", file)
    page.goto(file.as_uri())
    for title in ("Arms", "pass@k and pass^k", "scenario by scenario", "Steps", "Stages", "Tool calls", "Why attempts"):
        assert page.locator("h2", has_text=title).is_visible()
    charts = page.locator("svg[role=img]")
    assert charts.count() == 6
    for i in range(6):
        box = charts.nth(i).bounding_box()
        assert box is not None
        assert box["height"] > 50
        assert charts.nth(i).get_attribute("aria-label")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_markup_in_names_and_reasons_is_shown_and_not_done(
    installation: Installation, broken: str, page: Page, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    installation.run("passgrid", "report", broken, "--format", "html", "--out", file)
    page.goto(file.as_uri())
    assert page.locator("script, main img").count() == 0
    assert page.get_by_text("<script>alert(1)</script>").count() >= 2
    assert page.get_by_text("1 of 1 valid, coverage 25 %, 25–100 %").first.is_visible()
