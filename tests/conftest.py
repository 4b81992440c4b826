"""What all tests share: where the published data lie, and when a missing tool is a failure."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# Before anything imports numpy: several tests at once on few processors, and threads that spin would slow all of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The machines that run these are shared: how long an example takes says nothing.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

REQUIRE_ALL = os.environ.get("PASSGRID_REQUIRE_ALL") == "1"
"""Set in CI: what would be skipped for want of something fails instead."""


def skip_or_fail(reason: str) -> None:
    """Skip with the reason; in CI fail with it."""
    if REQUIRE_ALL:
        pytest.fail(f"needed in CI: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def published_data() -> Path:
    """The folder of recordings by others that measurements are made on."""
    given = os.environ.get("PASSGRID_DATA")
    if not given:
        skip_or_fail("set PASSGRID_DATA to the folder with the published recordings")
    return Path(given or "")


@pytest.fixture(scope="session")
def chromium() -> str:
    """A real browser."""
    found = shutil.which("chromium")
    if found is None:
        skip_or_fail("no browser: apt-get install chromium")
    return found or ""
