from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.unit.dashboard.analysis_files import AnalysisFiles, two_arms

MAIN = Path(__file__).parents[3] / "dashboard" / "main.py"

Open = Callable[..., AppTest]
"""Opens a page by its file, with parameters in its address."""


@pytest.fixture
def files(tmp_path: Path) -> AnalysisFiles:
    return AnalysisFiles(tmp_path / "analysis")


@pytest.fixture
def two(tmp_path: Path) -> AnalysisFiles:
    """See `two_arms`; published."""
    files = two_arms(tmp_path / "analysis")
    files.publish()
    return files


@pytest.fixture
def open_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setenv("PASSGRID_ANALYSIS", str(tmp_path / "analysis"))
    monkeypatch.setenv("PASSGRID_API_URL", f"http+unix://{tmp_path}/nobody.sock")

    def page(file: str, **query: Any) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=60)
        if file != "runs_page.py":
            app.run()
            app.switch_page(file)
        app.query_params.update(query)
        return app.run()

    yield page
    st.cache_resource.clear()
    st.cache_data.clear()
