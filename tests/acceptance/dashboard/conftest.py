"""The dashboard as a user starts it, on the run of the imported airline suite, and a real browser in front of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.acceptance.commands import BIN, Installation, airline
from tests.unit.passgrid.importers.xplainable_files import case, published_run, results

IMAGES = Path(__file__).parents[3] / "docs" / "images"
LAPTOP, PHONE = (1440, 900), (390, 844)

Opener = Callable[..., Page]
"""Opens a page by its path, at a size of screen."""
Picture = Callable[[Page, str], None]
"""Writes a screenshot below docs/images where PASSGRID_SCREENSHOTS=1."""


@pytest.fixture(scope="session")
def run(installation: Installation, airline_suite: Path) -> dict[str, Any]:
    return installation.json(*airline(airline_suite, "--wait", "--label", "release 9"), timeout=300)


@pytest.fixture(scope="session")
def imported(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The id of a run of two models that another tool measured: one reaches a stage less."""
    folder = tmp_path_factory.mktemp("results")
    for model, missed in (("anthropic:claude-sonnet-4-6", ()), ("openai:gpt-5-mini", ("deploy",))):
        calls = published_run()["cases"]
        cases = [case(f"{scenario}[{i}]", ("report",) if scenario == "returns" else missed if i == 3 else (),
                      calls[i % 4]["tool_calls"]) for scenario in ("churn", "returns") for i in range(5)]  # fmt: skip
        (folder / f"{model.partition(':')[0]}.json").write_text(json.dumps(results(cases, k=5, model=model)))
    return installation.json("passgrid", "import", "xplainable", *sorted(folder.iterdir()))["runs"][0]["run"]


@pytest.fixture(scope="session")
def dashboard(installation: Installation, run: dict[str, Any], imported: str) -> Iterator[str]:
    """Its address; it exports what is there when it starts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [BIN / "passgrid", "dashboard", "--port", str(port)]
    process = subprocess.Popen(command, env=installation.variables(), start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url + "/_stcore/health")
        yield url
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        process.wait(timeout=60)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser, closed with its module: while it is open, no other test can run an event loop."""
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser, dashboard: str) -> Iterator[Opener]:
    """Every page opened here must ask nothing of another host, and must not fail in its scripts."""
    foreign: list[str] = []
    failures: list[str] = []
    opened: list[Page] = []

    def page(path: str = "", size: tuple[int, int] = LAPTOP) -> Page:
        found = browser.new_page(viewport={"width": size[0], "height": size[1]})
        opened.append(found)
        found.set_default_timeout(30_000)
        found.on("request", lambda request: foreign.extend(_foreign(request.url)))
        found.on("websocket", lambda websocket: foreign.extend(_foreign(websocket.url)))
        found.on("pageerror", lambda error: failures.append(str(error)))
        found.goto(f"{dashboard}/{path}")
        settle(found)
        return found

    yield page
    for one in opened:
        one.close()
    assert foreign == []
    assert failures == []


def _foreign(url: str) -> list[str]:
    parts = urlsplit(url)
    return [] if parts.scheme in ("data", "blob") or parts.hostname == "127.0.0.1" else [url]


def settle(page: Page) -> None:
    """Wait until the page is drawn and its script has ended."""
    page.locator("h1").first.wait_for()
    page.wait_for_function("document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'")
    page.wait_for_function("document.querySelectorAll('[data-testid=stSkeleton]').length === 0")


@pytest.fixture
def picture() -> Picture:
    def take(page: Page, name: str) -> None:
        if os.environ.get("PASSGRID_SCREENSHOTS") != "1":
            return
        IMAGES.mkdir(parents=True, exist_ok=True)
        size = page.viewport_size
        assert size is not None
        whole = page.locator("[data-testid=stMain]").evaluate("main => main.scrollHeight")
        page.set_viewport_size({"width": size["width"], "height": min(whole + 70, 2400)})
        page.wait_for_timeout(1000)
        page.screenshot(path=IMAGES / f"{name}-{size['width']}.png")
        page.set_viewport_size(size)

    return take
