"""One warm installation for the tests of the whole stack, in a path with a blank, its dashboard and a browser."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.acceptance.browsing import Opener, Picture, opener, served_dashboard, take_picture
from tests.acceptance.commands import Installation


@pytest.fixture(scope="session")
def installation() -> Iterator[Installation]:
    """An installation whose stack stays up for the session."""
    with tempfile.TemporaryDirectory(prefix="passgrid acceptance ") as folder:
        made = Installation(Path(folder) / "home")
        up = made.run("passgrid", "up")
        assert up.returncode == 0, up.stderr
        yield made
        made.run("passgrid", "down")


@pytest.fixture(scope="session")
def airline_suite(installation: Installation, published_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published trajectories, imported."""
    out = tmp_path_factory.mktemp("imported suites")
    file = published_data / "tau-bench-airline-gpt-4o.json.gz"
    done = installation.json("passgrid", "import", "tau-bench", file, "--suite", "airline", "--out", out)
    assert (done["scenarios"], done["cassettes"], done["k"]) == (50, 200, 4)
    return out / "airline"


@pytest.fixture(scope="session")
def dashboard(installation: Installation) -> Iterator[str]:
    """Its address."""
    with served_dashboard(installation) as url:
        yield url


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
    with opener(browser, dashboard) as opened:
        yield opened


@pytest.fixture
def picture() -> Picture:
    return take_picture
