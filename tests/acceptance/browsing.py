"""The dashboard as a user starts it, and a real browser in front of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Browser, Page

from tests.acceptance.commands import BIN, Installation

IMAGES = Path(__file__).parents[2] / "docs" / "images"
LAPTOP, PHONE = (1440, 900), (390, 844)

Opener = Callable[..., Page]
"""Opens a page by its path, at a size of screen."""


class Picture(Protocol):
    """Writes a screenshot below docs/images where PASSGRID_SCREENSHOTS=1."""

    def __call__(self, page: Page, name: str, most: int = 2400) -> None:
        """most: pixels from the top."""
        ...


@contextmanager
def served_dashboard(installation: Installation) -> Generator[str]:
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


@contextmanager
def opener(browser: Browser, dashboard: str) -> Generator[Opener]:
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


def fits(page: Page, *, charts: bool = True) -> None:
    """Nothing scrolls sideways, and charts lie within the screen."""
    page.wait_for_timeout(500)
    for box in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth"), f"{box} scrolls sideways"
    if charts:
        chart = page.get_by_test_id("stVegaLiteChart").first.bounding_box()
        assert chart is not None
        assert page.viewport_size is not None
        assert chart["x"] + chart["width"] <= page.viewport_size["width"]


def take_picture(page: Page, name: str, most: int = 2400) -> None:
    """See `Picture`."""
    if os.environ.get("PASSGRID_SCREENSHOTS") != "1":
        return
    IMAGES.mkdir(parents=True, exist_ok=True)
    size = page.viewport_size
    assert size is not None
    whole = page.locator("[data-testid=stMain]").evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(whole + 70, most)})
    page.wait_for_timeout(1000)
    shot = Image.open(BytesIO(page.screenshot()))
    shot.convert("RGB").quantize(256).save(IMAGES / f"{name}-{size['width']}.png", optimize=True)
    page.set_viewport_size(size)
